/** How much processor time something takes, in milliseconds: whatever else the machine does at the same time. */
export async function cpuTimeOf(action: () => unknown): Promise<number> {
	const before = process.cpuUsage();
	await action();
	const { user, system } = process.cpuUsage(before);
	return (user + system) / 1000;
}
