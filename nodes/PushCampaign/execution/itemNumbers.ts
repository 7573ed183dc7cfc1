/** A message names at most this many items. */
const mostNamed = 10;

/**
 * Names items as n8n's editor numbers them, from 0: `item 3`, `items 3, 17, …`. n8n 2.41.1 adds `[item 3]` to the
 * title of an error (editor: `NodeErrorView.vue`).
 */
export function nameItems(items: readonly number[]): string {
	const named = items.slice(0, mostNamed).join(', ');
	return `item${items.length === 1 ? '' : 's'} ${named}${items.length > mostNamed ? ', …' : ''}`;
}
