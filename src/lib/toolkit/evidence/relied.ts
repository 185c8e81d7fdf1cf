import type { Reliance } from '../../evidence/index.ts';

type Relied = Pick<Reliance, 'fact' | 'support'> & { readonly basis: string };

/**
 * How many of the facts that orders rely on are verified on this chassis, and on what the others stand; with their names
 * on request. The one answer of every command that counts them: a simulator verifies nothing on a chassis.
 */
export function describeRelied(relied: readonly Relied[], { names }: { readonly names: boolean }): string {
  const by = (support: Relied['support']) => relied.filter((fact) => fact.support === support);
  const elsewhere = by('another-device');
  const here = by('this-device').length;
  const group = (what: string, facts: readonly Relied[]) => {
    if (facts.length === 0) return [];
    return [`${facts.length} ${what}${names ? `: ${facts.map(({ fact }) => fact).join(', ')}` : ''}`];
  };
  return [
    `${here} of ${relied.length} facts verified on this chassis`,
    ...group(
      'measured on another device or version',
      elsewhere.filter(({ basis }) => basis === 'measured'),
    ),
    ...group(
      'stated, and supported by a measurement on another device or version',
      elsewhere.filter(({ basis }) => basis !== 'measured'),
    ),
    ...group('verified on a simulator only', by('simulator')),
    ...group('not usable by orders yet', by('nothing')),
  ].join('; ');
}
