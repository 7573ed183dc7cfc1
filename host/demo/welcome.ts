import { diskSpace, installMinutes } from '../n8n/install';
import { access, demoOwner, demoWorkflows } from './prepare';

/** Where everything is, once it runs. */
export interface Running {
	/** The addresses of n8n and of the push service's page. */
	n8n: string;
	service: string;
	/** The push service's address for a credential. */
	baseUrl: string;
	/** The IANA name of the timezone in which n8n runs. */
	timezone: string;
	/** The IDs of the workflows by the names of their files. */
	workflows: Readonly<Record<string, string>>;
	isLoginChanged: boolean;
}

/** This machine's timezone as an IANA name, such as `Europe/Berlin`; UTC if it is unknown. */
export function machineTimezone(): string {
	const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();
	// For an unknown TZ, ICU gives a name that n8n does not accept.
	return timeZone === '' || timeZone.startsWith('Etc/Unknown') ? 'UTC' : timeZone;
}

const whatItIs = `
Starts n8n with the Push Campaign nodes in it and, beside it, a simulator of a push service.
Both run on this machine alone; nothing is sent to anybody. The first start installs n8n, which takes
${installMinutes}; this folder then has ${diskSpace}. The next ones take half a minute.
`;

/** Printed before anything begins. */
export const expectation = `${whatItIs}\n`;

/** What `npm start -- --help` prints. */
export const help = `${whatItIs}
  npm start                starts it; Ctrl+C stops it
  npm start -- --fresh     starts over: without the workflows, executions and campaigns made before
  npm start -- --help      prints this
`;

/** What to do first, for somebody who has never seen n8n. */
export function welcome(running: Running): string {
	const { n8n, service, baseUrl, timezone, workflows, isLoginChanged } = running;
	const address = (name: string, tab = '') => {
		const id = workflows[name];
		return id === undefined ? `${n8n}/home/workflows` : `${n8n}/workflow/${id}${tab}`;
	};
	const login = isLoginChanged
		? '     Log in with the e-mail and password that you chose. (The examples were not updated.)'
		: `     E-mail     ${demoOwner.email}\n     Password   ${demoOwner.password}`;
	return `
Ready. To send a campaign:

  1. Open this workflow in a browser, and log in:
     ${address(demoWorkflows.first)}
${login}

  2. Click 'Execute workflow', at the bottom. The campaign goes out; 15 seconds later the last
     node has its numbers. Double-click a node to see its settings and its output.

  3. See the notification as subscribers see it. Buttons there make people click:
     ${service}

  4. Break something: on that page, click 'Lose the answer', then execute the workflow again.

Then look around:

  A workflow that runs by itself when the numbers of campaign 1001 change
     ${address(demoWorkflows.watching, '/executions')}
  All example workflows. The note in each says what it does, and what it needs elsewhere
     ${n8n}/home/workflows
  The tables that some of them read and write
     ${n8n}/home/datatables

The examples have a credential. For one of your own:

     Base URL   ${baseUrl}
     API Key    ${access.apiKey}
     Auth Token ${access.authToken}

To change the nodes, edit what is in nodes/ or credentials/: n8n has it some seconds later.

Times are in ${timezone}. Ctrl+C stops n8n and the push service. What you made in n8n and the
campaigns you sent are there again at the next start; 'npm start -- --fresh' starts over.

`;
}
