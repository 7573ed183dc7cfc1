/** This machine's timezone as an IANA name, such as `Europe/Berlin`; UTC where it has none that is known. */
export function machineTimezone(): string {
	const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();
	// A TZ that means nothing to it makes ICU answer with a name that n8n does not take.
	return timeZone === '' || timeZone.startsWith('Etc/Unknown') ? 'UTC' : timeZone;
}
