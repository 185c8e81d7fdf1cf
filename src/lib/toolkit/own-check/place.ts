import { type Dialer, viaOf } from '../../net/index.ts';

/** From where a check looked, for its result and the record. */
export function placeOf(dialer: Dialer): string {
  const via = viaOf(dialer);
  return via === undefined ? THIS_MACHINE : `through ${via}`;
}

export const THIS_MACHINE = 'from this machine';

/** A part of a result that was not looked at, or not to its end: matchers take it for neither right nor wrong. */
export const NOT_CHECKED = 'not-checked';
export type NotChecked = typeof NOT_CHECKED;

/** UTF-8 text; not-checked where the bytes are none, because a replaced character is not what stands there. */
export function textOf(bytes: Uint8Array): string | NotChecked {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return NOT_CHECKED;
  }
}
