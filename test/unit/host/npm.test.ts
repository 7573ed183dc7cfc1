import { withoutNpmOfParent } from '../../../host/npm';

test('what npm says about the running script goes, what the user configured stays', () => {
	expect(
		withoutNpmOfParent({
			PATH: '/bin',
			npm_package_name: 'this',
			npm_lifecycle_event: 'start',
			npm_command: 'run',
			npm_config_local_prefix: '/this',
			npm_config_ignore_scripts: 'true',
			npm_config_registry: 'https://registry.example.com',
		}),
	).toEqual({ PATH: '/bin', npm_config_registry: 'https://registry.example.com' });
});
