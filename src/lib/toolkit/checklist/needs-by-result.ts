import { isRecord } from '../../json/index.ts';
import { type Need, needs } from '../site/needs.ts';

/** What a step expects, as its checklist has it: path into the result, and matcher. */
type Expected = Readonly<Record<string, unknown>>;

/** What `network check` needs of the site file for the lines that a step expects; others may stay open. */
export function needsOfLines(expected: Expected): readonly Need[] {
  const outward = expects(expected, { section: 'outward', seenFrom: 'gateway' });
  const segment = expects(expected, { section: 'segment', seenFrom: 'gateway' });
  const outside = expects(expected, { section: 'segment', seenFrom: 'second-host' });
  return [
    ...(outward ? [needs.cloud, needs.storage, needs.tunnel] : []),
    ...(segment ? [needs.robotSegment] : []),
    ...(segment || outside ? [needs.gatewayAddress] : []),
  ];
}

/** What `enrol status` needs of the site file for the findings that a step expects: some only compare with it. */
export function needsOfIdentity(expected: Expected): readonly Need[] {
  const names = (id: string) => Object.keys(expected).some((path) => path.includes(`id=${id}]`));
  return [
    needs.enrolment,
    ...(names('region') || names('endpoint') ? [needs.cloud] : []),
    ...(names('endpoint') ? [needs.brokerHost] : []),
  ];
}

/** Whether the expectations include lines with these fields: all that are not expressly about others. */
function expects(expected: Expected, fields: Readonly<Record<string, string>>): boolean {
  return Object.entries(expected).some(([path, matcher]) => {
    // A line that may stay open needs nothing.
    if (isRecord(matcher) && JSON.stringify(matcher['one-of'] ?? '').includes('not-checked')) return false;
    if (path.startsWith('lines[')) return fields.section === 'outward';
    const chosen = isRecord(matcher) && isRecord(matcher['all-ok']) ? matcher['all-ok'] : {};
    return Object.entries(fields).every(([key, value]) => (chosen[key] ?? value) === value);
  });
}
