import type { Format } from '../texts/format.ts';
import type { Texts } from '../texts/texts.ts';
import type { Cause } from './incident-model.ts';

/** One cause in the words of a language. */
export function causeText(cause: Cause, t: Texts, f: Format): string {
  const texts = t.incident.causes;
  switch (cause.code) {
    case 'stop':
      return texts.stop(cause.origin, cause.by);
    case 'alert':
      return texts.alert(cause.alertCode, cause.text);
    case 'link-lost':
      return texts['link-lost'](cause.failure === null ? null : (t.failure[cause.failure] ?? cause.failure));
    case 'move-failed':
      return texts['move-failed'](whereTo(cause, t, f), reasonOf(cause, t, f));
    default:
      return texts[cause.code]();
  }
}

type Move = Extract<Cause, { code: 'move-failed' }>;

function whereTo({ kind, name, title }: Move, { incident: { to } }: Texts, f: Format): string | null {
  if (kind === 'dock') return to.dock;
  return name !== null && (kind === 'tour' || kind === 'drive') ? to[kind](f.named(name, title)) : null;
}

/** How far off it stood, or what the robot reported. */
function reasonOf({ failReason, offM = null, offDeg = null }: Move, t: Texts, f: Format): string | null {
  if (offM !== null || offDeg !== null) return t.offGoal(offM, offDeg, f);
  return failReason === null || failReason === 0 ? null : t.failReason(failReason);
}
