import { packPackage } from '../../../host';

/** The variable that names the packed package for the suites. */
export const tarballVariable = 'PUSH_CAMPAIGN_TARBALL';

/** The path of the packed package; packs it where no runner has. */
export async function tarball(): Promise<string> {
	return process.env[tarballVariable] ?? (await packPackage()).tarball;
}
