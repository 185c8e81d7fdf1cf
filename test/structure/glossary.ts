/** What the glossary of docs/contributing.md leaves out, as patterns. `say` is the first cell of its row there. */
export interface Term {
  readonly say: string;
  readonly not: RegExp;
  /** One text for each alternative of the pattern that a reader may meet; the pattern must find it. */
  readonly found: readonly string[];
}

export const glossary: readonly Term[] = [
  {
    say: 'module, entry point (`index.ts`), layer',
    not: /\b(?:front|one|only|own|single) doors?\b|\bdoors? (?:to|of|into)\b|\b(?:rooms?|houses?)\b/i,
    found: ['The one door to movement', 'the front door', 'the door to it', 'room to room', 'the other house'],
  },
  {
    say: 'record (the signed JSON of a checklist run), report (rendered from it)',
    not: /\b(?:acceptance|checks?|checklist|signed)[ -]protocols?\b/i,
    found: ['The signed protocol', 'Check Protocol', 'acceptance-protocol'],
  },
  {
    say: 'overlays (the collection), feature (one of them), render',
    not: /\b(?:draws?|(?:un)?drawn|drew|drawings?)\b/i,
    found: ['These are no drawings of a map', 'drawn', 'draw the page'],
  },
  {
    say: 'heartbeat, received, sent',
    not: /\b(?:beats?|(?:un)?heard|hears?|told|tells?|voices?)\b/i,
    found: ['nothing was heard', 'told by the device', 'The chassis tells nothing', 'a beat', 'its voice'],
  },
  {
    say: 'connection, SSH connection; link (to the chassis only)',
    not: /\b(?:the line (?:to|over|comes)|over the line|lines? (?:is|was) (?:lost|cut))\b/i,
    found: ['The line to X is lost', 'came over the line', 'The line was cut'],
  },
  {
    say: 'connection attempt, probe',
    not: /\bknock(?:s|ed|ing)?\b/i,
    found: ['nobody knocked'],
  },
  {
    say: 'remote host',
    not: /\bfar (?:side|end)\b|\bgone through\b|\bmachines? to go through\b/i,
    found: ['the far side', 'the machine that was gone through', 'machine to go through'],
  },
  {
    say: 'certificate authority, CA',
    not: /(?<!\bcertificate )\bauthorit(?:y|ies)\b/i,
    found: ['None of the given authorities issued it', 'the authority'],
  },
  {
    say: 'ClientHello, handshake, SNI, ALPN, chain, issuer',
    not: /\bfirst words\b|\b(?:came|comes?) about\b/i,
    found: ['usual first words of TLS', 'TLS did not come about'],
  },
  {
    say: 'reported, received, unknown',
    not: /\b(?:no|some|any)body\b/i,
    found: ['nobody knows', 'Somebody else', 'anybody'],
  },
  {
    say: 'timeout, deadline, backoff, retry',
    not: /\bpatien(?:ce|t|tly)\b/i,
    found: ['the patience of a client'],
  },
  {
    say: 'rejected; refused (by a rule); denied (by authorisation)',
    not: /\blets? (?:it|them|him|her) in\b|\blet in\b|\byields? to\b/i,
    found: ['no client was let in', 'yields to no trick'],
  },
  {
    say: 'verified on this device',
    not: /\bproven here\b|\b(?:TLS|TCP|session|connection|link|socket) stood\b/i,
    found: ['proven here', 'TCP stood within 12 ms'],
  },
  {
    say: 'clear the stop',
    not: /\b(?:takes?|took|taken|taking) (?:\w+ )?(?:stop )?back\b/i,
    found: ['take the stop back', 'evidence was taken back', 'takes it back'],
  },
  {
    say: 'path result, run state, occupancy grid',
    not: /\bgone path\b|\bso ?far state\b|\bsofar\b|\bsitting\b|\bground\b/i,
    found: ['Gone Path', 'Sofar', 'Sitting', 'Ground'],
  },
  {
    say: 'wall clock, monotonic clock',
    not: /\bclock of the wall\b/i,
    found: ['by the clock of the wall'],
  },
  {
    say: '`FILE_UNREADABLE`, `FILE_UNWRITABLE`',
    not: /\bcannot be read\b.{0,20}\bFILE_UNWRITABLE\b/,
    found: ['cannot be read: FILE_UNWRITABLE'],
  },
  {
    say: 'project decision',
    not: /\bof ours\b/i,
    found: ['a decision of ours'],
  },
  {
    say: 'internal error',
    not: /\b(?:bug|failure) of its own\b/i,
    found: ['gw met a bug of its own', 'has a failure of its own'],
  },
  {
    say: 'max, min, limit, concurrent',
    not: /^(?:MOST|LEAST) |^most [A-Z]|\bso (?:many|much) at once\b/,
    found: ['MOST CONNECTIONS', 'most Bytes', 'so many at once'],
  },
  {
    say: 'attempt',
    not: /\b(?:a|one|each|every|first|next|last|another) try\b/i,
    found: ['the next try'],
  },
  {
    say: 'free space',
    not: /\broom (?:on|for|to|left)\b|\b(?:no|enough|free) room\b/i,
    found: ['has no room', 'room for the file'],
  },
];

/** The same words where they are a term of the platform or of a standard, or a thing in the building. */
const otherMeanings: readonly RegExp[] = [
  /^authority key identifier\b/gi,
  /^(?:voice|house)$/gi,
  /^house (?=\w)|\bhouse-|^voice (?=url|service)|\bvoice,|, voice\b/gi,
  /\b(?:private room|rooms? numbers?|hotel rooms?|patient rooms?)\b/gi,
  /\bhouse (?:network|networks|number|numbers)\b/gi,
  /\bvoice (?:services?|assistant)\b|\boperator\.voice\b|-voice\b/gi,
  /\b@?cert[- ]?authorit(?:y|ies)\b/gi,
  /\bmovement authority\b/gi,
  /\bplease tell us\b/gi,
];

/** Every pattern, also within a longer text and behind any word: those that ignore case, and the others. */
const anywhere = ['i', ''].map((flags) => {
  const patterns = glossary.filter(({ not }) => not.flags === flags);
  const loose = patterns.map(({ not }) => not.source.replaceAll('^', '\\b').replaceAll(/\(\?<![^)]*\)/g, ''));
  return new RegExp(loose.map((source) => `(?:${source})`).join('|'), flags);
});

/** Whether a part of this text may break a row: a quick test of a whole file. */
export const mayBreach = (text: string): boolean => anywhere.some((pattern) => pattern.test(text));

/** The row of the glossary that `text` breaks, with the words that do; null where it breaks none. */
export function breach(text: string): { readonly say: string; readonly words: string } | null {
  const plain = otherMeanings.reduce((left, pattern) => left.replace(pattern, '_'), text);
  for (const { say, not } of glossary) {
    const words = not.exec(plain)?.[0];
    if (words !== undefined) return { say, words };
  }
  return null;
}
