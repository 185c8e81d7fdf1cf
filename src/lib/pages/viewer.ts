import type { PageState } from './model.ts';

export type Language = 'de' | 'en';

/** Who looks at a page, and by which socket. */
export interface Viewer {
  readonly language: Language;
  readonly readOnly: boolean;
  readonly signedIn: boolean;
}

/** What a person has chosen and not confirmed yet. */
export type Choice =
  | { readonly kind: 'station'; readonly name: string }
  | { readonly kind: 'tour'; readonly name: string }
  /** The paused tour of this name. */
  | { readonly kind: 'resume'; readonly name: string }
  /** The next station of the queue, after this arrival; ids as they were shown. */
  | { readonly kind: 'next'; readonly name: string; readonly id: string; readonly arrival: string | null }
  | { readonly kind: 'dock' };

/** `?ziel=` of the operator surface, for pages without script. */
export function choiceText(choice: Choice): string {
  if (choice.kind === 'dock') return 'dock';
  return `${choice.kind}:${choice.kind === 'next' ? choice.id : choice.name}`;
}

/** Where this choice is ordered. */
export function orderPath({ kind }: Choice): string {
  if (kind === 'resume') return '/api/touren/lauf/weiter';
  if (kind === 'next') return '/api/lieferung/weiter';
  return kind === 'tour' ? '/api/touren/lauf' : '/api/fahrt';
}

/** null for a text that names no place or tour of this site. */
export function readChoice(
  text: string | undefined,
  { stations, tours, dock }: PageState['site'],
  delivery: PageState['delivery'] = null,
): Choice | null {
  if (text === undefined) return null;
  if (text === 'dock') return dock === null ? null : { kind: 'dock' };
  const at = text.indexOf(':');
  const [kind, name] = [text.slice(0, at), text.slice(at + 1)];
  const next = delivery?.queue[0];
  if (kind === 'next' && next?.id === name) {
    return { kind, name: next.station, id: next.id, arrival: delivery?.arrival?.id ?? null };
  }
  if (kind === 'station' && stations.some((one) => one.name === name)) return { kind, name };
  if ((kind === 'tour' || kind === 'resume') && tours.some((one) => one.name === name)) return { kind, name };
  return null;
}
