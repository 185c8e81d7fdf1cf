import type { Texts } from '../texts/texts.ts';
import type { Cause } from './incident-model.ts';

/** One cause in the words of a language. */
export function causeText(cause: Cause, t: Texts): string {
  const texts = t.incident.causes;
  switch (cause.code) {
    case 'stop':
      return texts.stop(cause.origin, cause.by);
    case 'alert':
      return texts.alert(cause.alertCode, cause.text);
    case 'link-lost':
      return texts['link-lost'](cause.failure === null ? null : (t.failure[cause.failure] ?? cause.failure));
    case 'move-failed':
      return texts['move-failed'](whereTo(cause, t), reasonOf(cause, t));
    default:
      return texts[cause.code]();
  }
}

type Move = Extract<Cause, { code: 'move-failed' }>;

function whereTo({ kind, name }: Move, { incident: { to } }: Texts): string | null {
  if (kind === 'dock') return to.dock;
  return name !== null && (kind === 'tour' || kind === 'drive') ? to[kind](name) : null;
}

const reasonOf = ({ failReason }: Move, t: Texts) =>
  failReason === null || failReason === 0 ? null : t.failReason(failReason);
