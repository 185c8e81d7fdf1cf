import { MARK } from './secret-names.ts';

/** A whole run of characters, and what of it is no secret; the run itself for one without. */
type Form = readonly [run: RegExp, clean: (run: string, ...parts: string[]) => string];

/** The block of a private key. An unfinished one counts to the end of the text. */
export const PRIVATE_KEY_BLOCK =
  /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|$)/g;

/**
 * Forms that a secret has wherever it stands. Each pattern matches a run that begins at its own first characters and has no
 * way back into it, so that the work is linear in the size of the text; what is in a run, its function decides.
 */
const forms: readonly Form[] = [
  [PRIVATE_KEY_BLOCK, () => MARK],
  [/\b(Bearer)\s{1,8}[^\s"'<>]{6,}/gi, (_run, word) => `${word} ${MARK}`],
  // A plain word behind it is English.
  [
    /\b(Basic)\s{1,8}([^\s"'<>]{6,})/gi,
    (run, word = '', value = '') => (/^[A-Z]?[a-z]+[.,;:!?-]?$/.test(value) ? run : `${word} ${MARK}`),
  ],
  [/[\w.-]{16,}/g, withoutToken],
  [/\bscrypt[$:][^\s"']+/g, () => MARK],
  [/:\/\/[^\s"'<>]+/g, withoutAccess],
  [
    /([?&](?:sig|signature|auth|code|jwt|sid|session(?:_?id)?|x-amz-[a-z-]{1,40})=)[^&\s"'<>]+/gi,
    (_run, name) => `${name}${MARK}`,
  ],
  [/\bWIFI:(?=[A-Z]:)[^\s"']+/g, () => `WIFI:${MARK}`],
  [/\b(?:AKIA|ASIA)[A-Z0-9]{12,}/g, () => MARK],
  [/\b(?:gh[opsur]_|github_pat_|glpat-|xox[a-z]-|sk-)[\w-]{16,}/g, () => MARK],
  // Longer than any checksum in hexadecimal.
  [/(?<![\w+/=-])[\w+/-]{86,}={0,2}(?![\w+/=-])/g, () => MARK],
];

export interface Cleaned {
  readonly value: string;
  /** Passages that were replaced. */
  readonly count: number;
}

export function withoutForms(text: string): Cleaned {
  let value = text;
  let count = 0;
  for (const [run, clean] of forms) {
    value = value.replace(run, (found: string, ...more: unknown[]) => {
      const kept = clean(found, ...more.filter((part) => typeof part === 'string'));
      if (kept !== found) count += 1;
      return kept;
    });
  }
  return { value, count };
}

/** A JSON Web Token, whose first part is an object in base64, also behind another word. */
function withoutToken(run: string): string {
  const parts = run.split('.');
  const first = parts.findIndex((part, at) => {
    const begin = part.indexOf('eyJ');
    return begin >= 0 && part.length - begin >= 9 && (parts[at + 1]?.length ?? 0) >= 6;
  });
  const [head = ''] = parts[first]?.split('eyJ') ?? [];
  return first < 0 ? run : [...parts.slice(0, first), `${head}${MARK}`].join('.');
}

/** A URL without its user, its query and its fragment; the query of a pre-signed URL is a secret. */
function withoutAccess(run: string): string {
  const rest = run.slice('://'.length);
  const start = /^[^/?#]*/.exec(rest)?.[0] ?? '';
  // A password may hold /, ? and @: all up to the last @ is the user, unless a host and its port stand first.
  const at = /^[^:@]*$|^[^@]*:\d{1,5}$|^\[[\d.:a-f]*\]$/i.test(start) ? -1 : rest.lastIndexOf('@');
  const place = rest.slice(at + 1);
  const query = place.search(/[?#]/);
  const shown = query < 0 || query + 1 === place.length ? place : `${place.slice(0, query)}?${MARK}`;
  return `://${at < 0 ? '' : `${MARK}@`}${shown}`;
}
