const minute = 60_000;
const unitMs = new Map([
	['m', minute],
	['h', 60 * minute],
	['d', 24 * 60 * minute],
]);

/** How far ahead `send_at` must be, in milliseconds (Specification, Limits). */
export const minimumLeadMs = 5 * minute;

/** For how long delivery is attempted without `expire_push` (Specification, Limits): 4 weeks. */
export const defaultExpiryMs = 28 * 24 * 60 * minute;

const sendAtPattern = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d) ([+-])(\d{1,2}):(\d\d)$/;

/**
 * Reads `send_at`: `YYYY-MM-DD HH:MM ±HH:MM`, the offset's hour also with one digit
 * (Specification, Common fields). Gives epoch milliseconds, or null where the value is not in
 * that format or names no real date.
 */
export function parseSendAt(value: unknown): number | null {
	const match = typeof value === 'string' ? sendAtPattern.exec(value) : null;
	if (!match) return null;
	const [, date, time, sign, offsetHours, offsetMinutes] = match;
	const wallClock = new Date(`${date}T${time}:00Z`);
	// Date rolls 30 February over into March: what was written must come back.
	if (Number.isNaN(wallClock.getTime())) return null;
	if (wallClock.toISOString() !== `${date}T${time}:00.000Z`) return null;
	if (Number(offsetMinutes) > 59) return null;
	const size = Number(offsetHours) * 60 + Number(offsetMinutes);
	const offset = sign === '-' ? -size : size;
	// The offsets in use on Earth reach from -12:00 to +14:00.
	if (offset < -12 * 60 || offset > 14 * 60) return null;
	return wallClock.getTime() - offset * minute;
}

/**
 * Reads `expire_push`: a number, then `m`, `h` or `d` (Specification, Common fields); here a whole
 * number from 1. Gives milliseconds, or null where the value is not in that format.
 */
export function parseExpirePush(value: unknown): number | null {
	const match = typeof value === 'string' ? /^([1-9]\d*)([mhd])$/.exec(value) : null;
	if (!match) return null;
	return Number(match[1]) * (unitMs.get(match[2] ?? '') ?? 0);
}
