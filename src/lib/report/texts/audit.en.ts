import { plural } from '../../text/index.ts';
import type { CheckDetail, FindingCode } from '../../tunnel/audit/index.ts';

/** What the sentence of a finding or a check names. */
export type AuditValues = Readonly<Record<string, string | number>>;
/** A text with the names of its values in braces; a function where it depends on a number. */
export type AuditText = string | ((values: AuditValues) => string);

const ofRecords = ({ from, to }: AuditValues) => (from === to ? `Record ${from}` : `Records ${from} to ${to}`);
const are = ({ from, to }: AuditValues) => (from === to ? 'is' : 'are');

const REPORT = 'This is a defect of gw or a forged record: keep the files and report it.';
const REVOKE = 'Close the tunnel in the cloud if it is still open, remove the text, and find out how it got there.';

/** What is wrong. */
const sentence: Readonly<Record<FindingCode, AuditText>> = {
  'changed-line': 'The line was changed after it was written: its SHA-256 is not its hash.',
  'unreadable-line': 'The line is not a record: it was damaged or inserted.',
  'invalid-record': 'The hash fits, but the content is not a record of gw ({what}).',
  'foreign-field': 'The record has a field that the format does not have: {what}.',
  'missing-records': (values) => `${ofRecords(values)} ${are(values)} missing before this line.`,
  'repeated-line': 'The line is a copy of the line before it.',
  'out-of-order': 'The line stands at the wrong place: it was moved or inserted (near record {after}).',
  forked: 'This line and line {line} both follow the same record: one of them was inserted.',
  'chain-broken': 'The record does not follow the one before it: that one or this one was replaced.',
  'missing-end': (values) => `${ofRecords(values)} ${are(values)} missing at the end, by head.json.`,
  'end-differs': 'The record is not the one that head.json names as the last.',
  'head-behind':
    'head.json names record {head} as the last, and more than one record follows it: they were added by another program, or head.json could not be written.',
  'head-invalid': 'head.json cannot be read, so a cut end would not be found.',
  'other-serial': 'The record is of robot {serial}, not of {expected}.',
  'start-without-end': 'The session started at {at} for at most {maxS} s and has no end.',
  'end-without-start': 'The session ended and has no start.',
  'second-end': 'The session ended a second time.',
  'session-repeated': 'A session with the same id started before.',
  'replaced-unknown': 'The session replaced {replaces}, which has no record.',
  overlap: 'The session started while {other} was running, without replacing it.',
  'beyond-own-clock': 'The session lasted {durationS} s; its own clock allowed {maxS} s.',
  'beyond-configured':
    'The own clock was set to {maxS} s; the site file allows {limitS} s now (cloud.tunnel.maxMinutes).',
  'other-region': 'The session was of region {region}, not {expected}.',
  'services-count': 'The session names {count} services; 1 to {max}, each once, are allowed.',
  'service-not-in-list': 'The session names the service {service}, which the site file does not list.',
  'token-in-records': 'A text of {length} characters in the record is an access token of a session.',
  'token-like-in-records': 'A text of {length} characters in the record looks like a token.',
  'token-in-log': 'The text of {length} characters at column {column} is an access token of a session.',
  'token-like-in-log': 'The text of {length} characters at column {column} looks like a token.',
  'missing-in-cloud': (values) => `${ofRecords(values)} ${are(values)} not in the copy of the cloud.`,
  'missing-locally': 'The copy of the cloud has a record that the gateway does not have.',
  'cloud-differs': 'The record in the copy of the cloud is another than the local one with its number.',
  'cloud-invalid': 'The line of the copy of the cloud is neither a session record nor a message of gw.',
};

/** What to do; for all others `compare`. */
const remedy: Readonly<Partial<Record<FindingCode, string>>> = {
  'head-behind':
    'Look for the message of gw about head.json in its log. Without one, compare with the copy of the cloud.',
  'other-serial': 'Name the site file of this robot with --site. If it is the right one, the record was copied here.',
  'start-without-end':
    'Start gw on the gateway: it closes such sessions as unclean shutdowns. If it runs, keep the files and report it.',
  'second-end': REPORT,
  'session-repeated': REPORT,
  overlap: REPORT,
  'beyond-own-clock': REPORT,
  'beyond-configured': 'Find out whether cloud.tunnel.maxMinutes was lowered after this session.',
  'other-region': 'Find out whether cloud.region was changed after this session. If not, report it.',
  'services-count': REPORT,
  'service-not-in-list': 'Find out whether cloud.tunnel.services was changed after this session. If not, report it.',
  'token-in-records': REVOKE,
  'token-like-in-records': REVOKE,
  'token-in-log': REVOKE,
  'token-like-in-log': 'Find out what the text is. If it is a token, close the tunnel in the cloud and remove it.',
  'missing-in-cloud': 'Make a new copy of the cloud. If it is the same, find out who removed or never stored it.',
  'missing-locally':
    'The local records were changed or cut after it was sent. Keep both, and rely on the copy of the cloud.',
  'cloud-differs': 'One of the two was changed after it was sent. Keep both, and find out who could write to which.',
  'cloud-invalid': 'Make a new copy of the cloud, as JSON lines.',
};

/** What is said of a check. */
const detail: Readonly<Record<CheckDetail, AuditText>> = {
  done: '',
  findings: ({ count }) => plural(Number(count), 'finding'),
  'no-records': 'there are no records',
  rotated: 'records before {first} are not present: removed by rotation, by head.json',
  unjudged: 'not every line could be judged',
  'unknown-durations': ({ unknown }) => `the duration of ${plural(Number(unknown), 'session')} is not known`,
  'no-head': 'the end of the chain was not checked: there is no head.json',
  'no-first': 'records before {first} are not present, and without head.json the reason is unknown',
  'head-one-behind':
    'record {last} is not confirmed by head.json, which names the one before: gw is writing, ended in between, or another program added it',
  torn: 'the last line is not complete: gw is writing it, or was ended in the middle of it',
  running: 'session {session} of {at} has no end yet; by its own clock it may run until {untilAt}',
  'no-limits': 'no site file with cloud.tunnel was given',
  'no-logs': 'no log file was given',
  'unsearched-logs':
    'the log files could not be searched completely: one is empty or no text (compressed?), or a line is too long',
  'no-cloud': 'no copy of the cloud was given',
  'cloud-behind': '{newer} newest records are not in the copy of the cloud yet',
};

/** The audit of the support sessions, in English. The German one has the same keys. */
export const auditEn = {
  finding: {
    'changed-line': 'line changed',
    'unreadable-line': 'not a record',
    'invalid-record': 'invalid record',
    'foreign-field': 'foreign field',
    'missing-records': 'records missing',
    'repeated-line': 'line repeated',
    'out-of-order': 'line out of order',
    forked: 'two records with one number',
    'chain-broken': 'chain broken',
    'missing-end': 'end cut off',
    'end-differs': 'last record replaced',
    'head-behind': 'records after head.json',
    'head-invalid': 'head.json damaged',
    'other-serial': 'record of another robot',
    'start-without-end': 'start without end',
    'end-without-start': 'end without start',
    'second-end': 'second end',
    'session-repeated': 'session id repeated',
    'replaced-unknown': 'replaced session unknown',
    overlap: 'sessions overlap',
    'beyond-own-clock': 'longer than its own clock',
    'beyond-configured': 'longer than configured',
    'other-region': 'other region',
    'services-count': 'number of services',
    'service-not-in-list': 'service not in the list',
    'token-in-records': 'token in the records',
    'token-like-in-records': 'token-like text in the records',
    'token-in-log': 'token in a log',
    'token-like-in-log': 'token-like text in a log',
    'missing-in-cloud': 'missing in the cloud',
    'missing-locally': 'missing locally',
    'cloud-differs': 'copies differ',
    'cloud-invalid': 'cloud: not a record',
  },
  sentence,
  remedy,
  compare: 'Keep the files as they are. Compare with the copy of the cloud: `gw tunnel audit --cloud FILE`.',
  title: (serial: string | null) => `Audit of the support sessions${serial === null ? '' : ` of robot ${serial}`}`,
  above: 'Remote support',
  footer: (serial: string | null) => `Audit of the support sessions${serial === null ? '' : `, ${serial}`}`,
  verdict: {
    ok: 'No finding: the local records are whole, and the same as in the cloud',
    findings: (count: number) => `${plural(count, 'finding')}`,
    'not-decided': 'Not decided: no finding, but not everything was checked',
  },
  firstBroken: (file: string, line: number | null) =>
    `First broken line of the chain: ${file}${line === null ? '' : `, line ${line}`}`,
  notCompared: 'The copy of the cloud was NOT COMPARED: a complete rewriting of the local records would not show.',
  compared: 'Compared with the copy of the cloud, record by record.',
  notCheckedNames: (names: string) => `Not checked: ${names}.`,
  figures: {
    records: 'records',
    sessions: 'sessions',
    refused: 'refused',
    findings: 'findings',
    open: 'checks not made',
  },
  factsTitle: 'What was audited',
  fact: {
    robot: 'Robot',
    records: 'Records',
    time: 'Time',
    files: 'Files',
    cloud: 'Copy of the cloud',
    logs: 'Log files',
    madeAt: 'Audit made at',
  },
  none: 'none',
  unknown: 'not known',
  range: (first: number, last: number, count: number) => `${first} to ${last} (${plural(count, 'line')})`,
  cloudFacts: (records: number, copies: number, others: number, older: number) =>
    `${plural(records, 'record')} of this robot, ${copies} further copies with the same content, ${older} older than the local ones, ${others} lines of other things`,
  checksTitle: 'Checks',
  checksHead: ['Check', 'Result', 'Found'] as readonly string[],
  mark: { ok: 'ok', wrong: 'FAILED', 'not-checked': 'not checked' },
  check: {
    chain: 'Every record is unchanged and follows the one before',
    beginning: 'The first records are present',
    end: 'The last records are present (head.json)',
    pairs: 'Every start has one end',
    durations: 'No session lasted longer than its own clock',
    configured: 'No own clock was longer than the configured one',
    scope: 'Only the configured region and services',
    overlap: 'No two sessions at once, except a replaced one',
    'tokens-records': 'No token in the records',
    'tokens-logs': 'No token in the log files',
    cloud: 'Local records and copy of the cloud are the same',
  },
  detail,
  findingsTitle: 'Findings',
  findingsHead: ['Place', 'Record', 'Finding', 'What to do'] as readonly string[],
  place: (file: string | null, line: number | null) =>
    file === null ? '--' : line === null ? file : `${file}, line ${line}`,
  sessionOf: (session: string) => `session ${session}`,
  notListed: (count: number) => `${count} more findings are counted and not listed.`,
  /** Why a notification was refused, by the code in the records. */
  refusal: {
    'not-configured': 'remote support not set up',
    'not-destination': 'not for the gateway',
    'other-region': 'other region',
    'services-count': 'number of services',
    'service-repeated': 'a service twice',
    'service-not-in-list': 'service not in the list',
    'seen-before': 'token received before',
    'not-recorded': 'could not be recorded',
    'shutting-down': 'gateway shutting down',
  } as Readonly<Record<string, string>>,
  infoTitle: 'For information',
  info: {
    refused: (reasons: string) => `Refused requests: ${reasons}.`,
    onlyJudged:
      'Numbers of sessions and refusals count only the records that could be judged. A start or an end that seems to be missing may be one of the others.',
    noRefused: 'No request was refused.',
    unusual: (day: string, count: number) => `Unusual: ${count} refused requests on ${day} (UTC).`,
    unclean: (count: number) =>
      `${plural(count, 'session')} closed at the next start of gw, since gw or the gateway ended without closing (unclean-shutdown).`,
    unknownDurations: (count: number) => `The duration of ${plural(count, 'session')} is not known.`,
    clock: (count: number, place: string) =>
      `The wall clock of the gateway went backwards ${plural(count, 'time')}, first at ${place}. Durations are measured by another clock.`,
    torn: (count: number) =>
      `${plural(count, 'part', 'parts')} of incomplete lines beside the records, moved there after a crash.`,
    running: (session: string, until: string) => `Session ${session} may be running until ${until}.`,
  },
  meaningTitle: 'What this audit shows, and what it does not',
  meaning: [
    'Each record holds the SHA-256 of the one before. Whoever changes, removes, inserts or moves a single line cannot make the others fit, and the audit names the first line that does not.',
    'Whoever has root on the gateway can write all local records and head.json anew, with hashes that fit. Only a comparison with the copy of the cloud finds that, since the gateway sends each record there when it is made.',
    'The times in the records are those of the wall clock of the gateway, which may have been wrong. Durations were measured independently of it.',
    'The records hold the hash of a token and never the token.',
  ],
};
