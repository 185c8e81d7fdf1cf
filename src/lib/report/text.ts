/** Text allowed in a document: no control characters but line ends, no lone surrogates, no non-characters. */
export function clean(text: string): string {
  return (
    text
      .toWellFormed()
      .replace(/\r\n?/g, '\n')
      // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is replaced
      .replace(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028\u2029\ufffe\uffff]/g, '\ufffd')
  );
}

/** The same on one line. */
export function cleanLine(text: string): string {
  return clean(text).replace(/\n+/g, ' ').trim();
}

/** `1.25` for 1250 ms. */
export function seconds(ms: number): string {
  return (Math.max(0, ms) / 1000).toFixed(2);
}

/** Foreign text as it may be shown to people: as `clean`, and without bidirectional control characters. */
export function shown(text: string): string {
  return clean(text.replaceAll('\t', ' ')).replace(/\p{Bidi_Control}/gu, '\ufffd');
}
