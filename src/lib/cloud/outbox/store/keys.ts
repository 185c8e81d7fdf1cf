import { type MessageClass, messageClasses } from '../message-class.ts';

/** Keys of one class; a message per nanosecond would use them up in three days, one per millisecond in 9,000 years. */
const CLASS_SPAN = 2 ** 48;

export function keyOf(messageClass: MessageClass, seq: number): number {
  return messageClasses.indexOf(messageClass) * CLASS_SPAN + seq;
}

export function seqOf(key: number): number {
  return key % CLASS_SPAN;
}

/** Index in `messageClasses`; out of its range for a key that gw never gives. */
export function classIndexOf(key: number): number {
  return Math.floor(key / CLASS_SPAN);
}
