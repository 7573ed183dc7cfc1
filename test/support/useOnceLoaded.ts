declare global {
	var onceLoaded: Readonly<Record<string, unknown>>;
}

for (const [name, loaded] of Object.entries(globalThis.onceLoaded)) jest.mock(name, () => loaded);

export {};
