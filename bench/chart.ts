import type { Report, Result } from './result';

interface Bar {
	readonly name: string;
	readonly ms: number;
	readonly low: number;
	readonly high: number;
	readonly colour: string;
}

const width = 760;
const barsFrom = 300;
const barsWidth = 340;
const barHeight = 14;
const groupGap = 16;

const escape = (text: string) =>
	text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');

const time = (ms: number) =>
	ms >= 1000 ? `${(ms / 1000).toFixed(2)} s` : `${ms < 10 ? ms.toFixed(1) : ms.toFixed(0)} ms`;

function barsOf({ ours, other, limit }: Result): Bar[] {
	const bar = (name: string, summary: Result['ours'], colour: string): Bar => ({
		name,
		ms: summary.median,
		low: summary.lowest,
		high: summary.highest,
		colour,
	});
	return [
		bar('Push Campaign', ours, '#0b7285'),
		...(other === undefined ? [] : [bar('HTTP Request', other, '#adb5bd')]),
		...(limit === undefined
			? []
			: [{ name: limit.name, ms: limit.ms, low: limit.ms, high: limit.ms, colour: '#e8b339' }]),
	];
}

function drawBar({ name, ms, low, high, colour }: Bar, y: number, longest: number): string {
	const at = (value: number) => barsFrom + (value / longest) * barsWidth;
	const middle = y + barHeight / 2;
	const spread =
		low === high
			? ''
			: `<path d="M${at(low).toFixed(1)} ${middle}H${at(high).toFixed(1)}" stroke="#212529"/>`;
	return [
		`<text x="${barsFrom - 8}" y="${middle + 4}" text-anchor="end">${escape(name)}</text>`,
		`<rect x="${barsFrom}" y="${y}" width="${(at(ms) - barsFrom).toFixed(1)}" height="${barHeight - 2}" fill="${colour}"/>`,
		spread,
		`<text x="${(at(Math.max(ms, high)) + 6).toFixed(1)}" y="${middle + 4}">${time(ms)}</text>`,
	].join('');
}

/** The results as an SVG chart: a group of bars for each case, each group on a scale of its own. */
export function toChart({ machine, date, results }: Report): string {
	let y = 48;
	const groups = results.map((result) => {
		const bars = barsOf(result);
		const longest = Math.max(...bars.map(({ high }) => high));
		const title = `<text x="12" y="${y + 11}" font-weight="bold">${escape(result.title)}</text>`;
		y += barHeight + 4;
		const drawn = bars.map((bar, index) => drawBar(bar, y + index * barHeight, longest));
		y += bars.length * barHeight + groupGap;
		return [title, ...drawn].join('\n');
	});
	const captions = [
		'Median, with lowest to highest. Each case has its own scale.',
		`${date}, ${machine}`,
	];
	return [
		`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${y + 8}" width="${width}" height="${y + 8}" font-family="system-ui, sans-serif" font-size="12" fill="#212529" role="img" aria-label="How long each case takes">`,
		`<rect width="100%" height="100%" fill="#ffffff"/>`,
		...captions.map(
			(text, line) =>
				`<text x="12" y="${18 + 14 * line}" font-size="10" fill="#495057">${escape(text)}</text>`,
		),
		...groups,
		'</svg>',
		'',
	].join('\n');
}
