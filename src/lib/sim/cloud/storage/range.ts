/** The bytes that a Range header asks for; several ranges and other units are ignored, as RFC 9110 permits. */
export function readRange(
  header: string | undefined,
  length: number,
): { readonly first: number; readonly last: number } | 'whole' | 'unsatisfiable' {
  const [, from = '', to = ''] = /^bytes=(\d*)-(\d*)$/.exec(header ?? '') ?? [];
  if (from === '' && to === '') return 'whole';
  if (from === '') {
    // The last bytes.
    const count = Math.min(Number(to), length);
    return count === 0 ? 'unsatisfiable' : { first: length - count, last: length - 1 };
  }
  const first = Number(from);
  const last = to === '' ? length - 1 : Math.min(Number(to), length - 1);
  if (to !== '' && Number(to) < first) return 'whole';
  return first >= length ? 'unsatisfiable' : { first, last };
}
