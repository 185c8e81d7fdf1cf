const listTexts = Symbol('listTexts');

/**
 * Gives the elements of a list as JSON in UTF-8, at least one, each on one line, `between` between any two of them.
 * The pieces may end anywhere; each is good until the next is asked for.
 */
export type ListTexts = (between: string) => Iterable<Uint8Array>;

/**
 * Lets an object bring the JSON of a list in it along. What was read from a text can so be handed on as it stood
 * there: parsing loses digits of large numbers, and writing it anew costs as much as reading. The writer of an output
 * uses the texts and never looks at the list, which need not even be made then; to everything else the object is one
 * like any other.
 */
export function withListTexts<T extends object>(object: T, key: keyof T & string, texts: ListTexts): T {
  return Object.defineProperty(object, listTexts, { value: { key, texts } });
}

/** undefined when the object brings none for this key. */
export function listTextsOf(object: object, key: string): ListTexts | undefined {
  if (!Object.hasOwn(object, listTexts)) return undefined;
  const brought = (object as { [listTexts]: { readonly key: string; readonly texts: ListTexts } })[listTexts];
  return brought.key === key ? brought.texts : undefined;
}
