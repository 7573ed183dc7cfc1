import type { FailedSend, SimulatorState } from '../options';
import { byId, element, find } from './elements';

const clock = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' });

/** The buttons that make the next sends fail. */
export const faultButtons = () => document.querySelectorAll<HTMLButtonElement>('[data-fault]');

function failureText({ audience, answered, campaignId }: FailedSend): string {
	const isForOne = audience === 'sid';
	const operation = `Send to ${isForOne ? 'subscriber' : audience}`;
	if (campaignId !== null) {
		const what = isForOne ? 'the notification' : `campaign ${campaignId}`;
		return `${operation}: ${what} went out, but the answer was lost.`;
	}
	const reason = answered?.type ?? (answered ? `HTTP ${answered.status}` : 'no answer');
	return `${operation}: refused (${reason}). Nothing went out.`;
}

/** Shows which faults are on, and the latest sends that failed. */
export function showFaults({
	faults,
	failedSends,
}: Pick<SimulatorState, 'faults' | 'failedSends'>): void {
	for (const button of faultButtons()) {
		const fault = faults.find(({ name }) => name === button.dataset['fault']);
		button.setAttribute('aria-pressed', String(fault !== undefined));
		const left = fault === undefined ? '' : `· ${fault.times} left`;
		find(button, 'i', HTMLElement).textContent = left;
	}
	byId('failed').hidden = failedSends.length === 0;
	const rows = failedSends.toReversed().map((send) => {
		const row = element('li', '');
		row.append(element('time', clock.format(send.at)), element('span', failureText(send)));
		return row;
	});
	byId('failed').replaceChildren(...rows);
}
