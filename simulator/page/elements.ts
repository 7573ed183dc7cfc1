/** The element that a selector finds, of this class. Throws if the page has none. */
export function find<E extends Element>(
	parent: ParentNode,
	selector: string,
	type: new () => E,
): E {
	const found = parent.querySelector(selector);
	if (!(found instanceof type)) throw new Error(`The page has no ${selector}`);
	return found;
}

/** The element with this ID. Throws if the page has none. */
export const byId = (id: string) => find(document, `#${id}`, HTMLElement);

/** A new element. What was sent is shown as text only, never as HTML. */
export function element(tag: string, content: string, className = ''): HTMLElement {
	const made = document.createElement(tag);
	made.textContent = content;
	made.className = className;
	return made;
}

/** A copy of the element in a template of the page. */
export function fromTemplate(id: string): HTMLElement {
	const { content } = find(document, `#${id}`, HTMLTemplateElement);
	const copy = content.firstElementChild?.cloneNode(true);
	if (!(copy instanceof HTMLElement)) throw new Error(`The template ${id} is empty`);
	return copy;
}
