/**
 * Sends a signal to a process group, by the id of the process that leads it; where the system knows
 * no groups (Windows), to that process alone. A group that is gone already is fine.
 */
export function killGroup(leader: number, signal: NodeJS.Signals): void {
	try {
		process.kill(process.platform === 'win32' ? leader : -leader, signal);
	} catch {
		// Nobody left to signal.
	}
}
