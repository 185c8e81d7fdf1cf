/**
 * What a Content-Encoding names beside `identity`; null: nothing, also where it is empty or repeated. gw asks for none and
 * undoes none: some storages keep such a label of the upload (`aws-chunked`, `gzip`) with bytes that are the file itself, so
 * that a label decides nothing, and only explains bytes that are wrong.
 * @source RFC 9110, 8.4 and 5.6.1
 */
export function foreignCoding(header: string | readonly string[] | undefined): string | null {
  const codings = [header ?? []].flat().flatMap((text) => text.split(',').map((coding) => coding.trim()));
  const foreign = codings.filter((coding) => coding !== '' && coding.toLowerCase() !== 'identity');
  return foreign.length === 0 ? null : foreign.join(', ');
}
