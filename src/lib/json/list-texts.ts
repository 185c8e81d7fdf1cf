const listTexts = Symbol('listTexts');

/**
 * Gives the elements of a list as JSON in UTF-8, at least one, each on one line, `between` between any two of them.
 * The pieces may end anywhere; each is good until the next is asked for.
 */
export type ListTexts = (between: string) => Iterable<Uint8Array>;

/**
 * Attaches the source JSON of a list to the object that holds it, so that it is written unchanged: parsing loses digits
 * of large numbers, and serialising costs as much as parsing. The JSON writer uses the texts instead of the list, which
 * need not exist then; everything else sees an ordinary object.
 */
export function withListTexts<T extends object>(object: T, key: keyof T & string, texts: ListTexts): T {
  return Object.defineProperty(object, listTexts, { value: { key, texts } });
}

/** undefined when the object has none for this key. */
export function listTextsOf(object: object, key: string): ListTexts | undefined {
  if (!Object.hasOwn(object, listTexts)) return undefined;
  const brought = (object as { [listTexts]: { readonly key: string; readonly texts: ListTexts } })[listTexts];
  return brought.key === key ? brought.texts : undefined;
}
