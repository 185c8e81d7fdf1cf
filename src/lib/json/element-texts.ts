/**
 * A list may bring the JSON of its elements along, in their order. What was read from a text can so be handed on as
 * it stood there: parsing loses digits of large numbers, and writing it anew costs as much as reading. The writer of
 * an output uses it instead of the elements; everything else sees a list like any other.
 */
export const elementTexts = Symbol('elementTexts');

/**
 * Gives the elements as JSON in UTF-8, each on one line, `between` between any two of them. The pieces may end
 * anywhere; each is good until the next is asked for.
 */
export type ElementTexts = (between: string) => Iterable<Uint8Array>;

export function withElementTexts<T>(list: T[], texts: ElementTexts): T[] {
  return Object.defineProperty(list, elementTexts, { value: texts });
}

/** undefined when the list brings none. */
export function elementTextsOf(list: object): ElementTexts | undefined {
  return Object.hasOwn(list, elementTexts) ? (list as { [elementTexts]: ElementTexts })[elementTexts] : undefined;
}
