import { DateTime } from 'luxon';

const hoursToNoon = 12 - DateTime.utc().hour;

/** A timezone in which it is about noon, so that no day ends in the middle of a test. */
export const noonTimezone = `Etc/GMT${hoursToNoon > 0 ? '-' : '+'}${Math.abs(hoursToNoon)}`;
