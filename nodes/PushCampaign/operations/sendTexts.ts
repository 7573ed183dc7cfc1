import { maxCharacters } from '../service/rules';
import { htmlToText } from './html';
import type { Judge, TextField } from './judgeText';
import { withoutHalfCharacters } from './judgeText';
import type { SendOptions } from './options';
import { atMost, isBlank, textProperty } from './parameters';
import { shortenText } from './shortenText';
import type { Utm } from './utm';
import { withUtm } from './utm';

// A family emoji is seven code points: what people see is not what is counted.
const howCharactersCount = 'Most emoji count as one character.';

export const title = textProperty({
	displayName: 'Title',
	name: 'title',
	required: true,
	placeholder: 'e.g. Summer sale starts today',
	description: `First line of the notification. ${howCharactersCount}`,
	...atMost(maxCharacters.title),
});

export const message = textProperty({
	displayName: 'Message',
	name: 'message',
	required: true,
	typeOptions: { rows: 3 },
	placeholder: 'e.g. 20% off everything until Sunday',
	description: `Text of the notification. ${howCharactersCount}`,
	...atMost(maxCharacters.message),
});

export const targetUrl = textProperty({
	displayName: 'Target URL',
	name: 'targetUrl',
	required: true,
	placeholder: 'e.g. https://example.com/sale',
	description: 'Page that opens when the notification is clicked',
	...atMost(maxCharacters.targetUrl),
});

export const campaignName = textProperty({
	displayName: 'Campaign Name',
	name: 'name',
	placeholder: 'e.g. Summer sale, newsletter readers',
	description: 'Name for reports and the dashboard of your push service. Subscribers never see it.',
	...atMost(maxCharacters.name),
});

export const iconUrl = textProperty({
	displayName: 'Icon URL',
	name: 'iconUrl',
	placeholder: 'e.g. https://example.com/icon.png',
	description: 'Small picture beside the text: the https:// address of a PNG of 192 × 192 pixels',
});

export const imageUrl = textProperty({
	displayName: 'Image URL',
	name: 'imageUrl',
	placeholder: 'e.g. https://example.com/banner.jpg',
	description:
		'Large picture below the text: an https:// address. Only Chrome on Android and Edge show it.',
});

/** A number is taken as its text. */
const toText = (given: unknown) =>
	typeof given === 'number' && Number.isFinite(given) ? String(given) : given;

const trimmed = (given: unknown) => (typeof given === 'string' ? given.trim() : given);

/**
 * Makes of the texts of one item what is sent: each is changed as its user chose, and judged then. What is no text
 * is left to the schemas.
 */
export class SendTexts {
	constructor(
		private readonly options: SendOptions,
		private readonly utm: Utm,
		private readonly judge: Judge,
	) {}

	/** A text that people read. `limit` in code points. */
	read(given: unknown, field: TextField, limit: number): unknown {
		const text = toText(given);
		if (typeof text !== 'string') return text;
		const plain = withoutHalfCharacters(this.options.htmlToText ? htmlToText(text) : text);
		// Whole: cutting could hide what is wrong with it.
		const judged = this.judge(plain, field);
		return this.options.shortenTexts ? shortenText(judged, limit) : judged;
	}

	/** A text that may be blank. It is judged then, too: each of its parts may have given nothing. */
	readOptional(given: unknown, field: TextField, limit: number): unknown {
		const text = isBlank(given) ? this.judge('', field) : this.read(given, field, limit);
		return isBlank(text) ? undefined : text;
	}

	/** The address of a picture, which may be blank. */
	picture(given: unknown, field: TextField): unknown {
		const address = this.judge(isBlank(given) ? '' : trimmed(given), field);
		return isBlank(address) ? undefined : address;
	}

	/** An address that subscribers follow. `limit` in code points. */
	link(given: unknown, field: TextField, limit: number, isButton = false): unknown {
		const { displayName } = field;
		const url = withUtm(trimmed(given), this.utm, { displayName, limit, isButton });
		return this.judge(url, field);
	}
}
