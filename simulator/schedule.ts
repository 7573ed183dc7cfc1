const minuteMs = 60_000;

/** How far ahead `send_at` must be (Specification, Limits). */
export const minimumLeadMs = 5 * minuteMs;

const sendAtPattern = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d) ([+-])(\d{1,2}):([0-5]\d)$/;

/**
 * Reads `send_at`: `YYYY-MM-DD HH:MM ±HH:MM`, the offset's hour also with one digit (Specification, Common
 * fields). Gives epoch milliseconds; undefined if it is in another format, is no real date, or has an offset
 * that is not in use on Earth (-12:00 to +14:00).
 */
export function parseSendAt(value: unknown): number | undefined {
	const match = typeof value === 'string' ? sendAtPattern.exec(value) : null;
	if (!match) return undefined;
	const [, date, time, sign, hours, minutes] = match;
	const wallClock = new Date(`${date}T${time}:00Z`);
	// Date rolls 30 February over into March: what was written must come back.
	if (Number.isNaN(wallClock.getTime())) return undefined;
	if (wallClock.toISOString() !== `${date}T${time}:00.000Z`) return undefined;
	const size = Number(hours) * 60 + Number(minutes);
	const offset = sign === '-' ? -size : size;
	if (offset < -12 * 60 || offset > 14 * 60) return undefined;
	return wallClock.getTime() - offset * minuteMs;
}
