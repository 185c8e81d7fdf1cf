import { markText } from '../../evidence/index.ts';
import { plural } from '../../text/index.ts';

/** The record of a checklist, in English. The German one has the same keys. */
export const recordEn = {
  above: {
    premises: 'Acceptance record: before delivery',
    site: 'Acceptance record: commissioning at the site',
    handover: 'Acceptance record: handover',
    service: 'Acceptance record: service',
    none: 'Checklist record',
  },
  footer: (id: string, edition: number, state: string) => `Record ${id}, edition ${edition}, ${state}`,

  simulated: 'SIMULATED ROBOT: not an acceptance',
  simulatedText: 'The device reported that it is a simulator. This record says nothing of a real robot.',
  simulatedShort: 'SIMULATED ROBOT',

  verdictOk: (steps: number) => (steps === 1 ? 'The step is ok' : `All ${steps} steps are ok`),
  verdictOkUnproven: (steps: number) =>
    `${steps === 1 ? 'The step is' : `All ${steps} steps are`} recorded as ok, but this record is not verified`,
  verdictAccepted: (deviations: number) =>
    deviations === 1 ? 'Accepted with 1 deviation' : `Accepted with ${deviations} deviations`,
  verdictWrong: (wrong: number, redLines: number) =>
    redLines > 0
      ? `Not accepted: ${wrong} not met, ${plural(redLines, 'more red line')}`
      : `Not accepted: ${plural(wrong, 'requirement is', 'requirements are')} not met`,
  verdictIncomplete: (open: number) => `Not complete: ${plural(open, 'step is', 'steps are')} skipped or not checked`,
  interrupted: 'The run was interrupted before its end.',
  leftOut: 'Some steps were left out on purpose; they count as not checked.',

  signedVerified: (serial: string) => `signed with the key of the device ${serial}, and verified`,
  signedNotVerified: 'Signed, but NOT VERIFIED',
  signedNotVerifiedText: 'No check failed, but these could not be made:',
  signedWrong: 'Signed, but verification FAILED',
  notSignedWrong: 'NOT SIGNED, and verification FAILED',
  signedWrongText: 'Do not accept this record until these findings are explained:',
  notSigned: 'NOT SIGNED',
  notSignedText: 'The record carries no device signature; changes to it cannot be detected.',
  state: {
    verified: 'signed and verified',
    'not-verified': 'not verified',
    wrong: 'verification failed',
    'not-signed': 'not signed',
  },

  figures: {
    ok: 'ok',
    wrong: 'not met',
    skipped: 'skipped',
    notChecked: 'not checked',
    deviations: 'accepted deviations',
  },
  fact: {
    customer: 'Customer',
    operator: 'Operator',
    robots: 'Robot',
    software: 'Chassis software',
    checklist: 'Checklist',
    proof: 'Proof',
    technician: 'Technician',
    time: 'Time',
    motion: 'Movement',
    program: 'Program',
    record: 'Record',
    signature: 'Signature',
  },
  robot: (site: string, serial: string) => `${site}, chassis ${serial}`,
  robotVerdict: { ok: 'ok', accepted: 'accepted with deviations', wrong: 'not accepted', open: 'not complete' },
  softwareUnknown: 'chassis software unknown: not read by any step',
  softwareUnknownShort: 'software unknown',
  /** Of the steps that are ok. */
  proof: (program: number, both: number, person: number) =>
    `ok steps: ${program} checked by the program, ${both} in part, ${person} only the word of a person`,
  noTechnician: 'not named',
  times: (from: string, to: string) => `${from} to ${to}`,
  resumed: (times: number) => (times === 1 ? 'resumed once' : `resumed ${times} times`),
  took: (duration: string) => `${duration} in all`,
  motionYes: 'the robot was allowed to move',
  motionNo: 'the robot was not allowed to move',
  edition: (id: string, edition: number) => `${id}, edition ${edition}`,
  more: (count: number) => `and ${count} more, see the following pages`,

  number: (number: number) => `no. ${number}`,
  redTitle: 'Red lines',
  notMet: (title: string) => `Not met: ${title}`,
  marks:
    'What is said of the device has a mark: BELEGT (measured), HINWEIS (note, stated by a vendor), VORSICHT (assumed), OFFEN (open, unknown).',
  redNone: 'None.',
  redNoneUnproven: 'None is recorded.',
  acceptanceTitle: 'Acceptance',
  acceptanceOk: 'Both sides take note of this record.',
  acceptanceOpen: (count: number) =>
    `Both sides take note of this record, including ${count === 1 ? 'one entry that is' : `the ${count} entries that are`} not ok.`,
  signFor: { operator: 'For the operator of the robot', customer: 'For the customer' },
  signForName: {
    operator: (name: string) => `For the operator, ${name}`,
    customer: (name: string) => `For the customer, ${name}`,
  },
  signLines: ['Name in capitals', 'Place, date, signature'] as readonly string[],

  notOkTitle: 'What is not ok',
  notOkNone: 'Every step is ok.',
  mark: {
    redLine: 'RED LINE',
    wrong: 'NOT MET',
    accepted: 'ACCEPTED DEVIATION',
    'not-checked': 'NOT CHECKED',
    skipped: 'SKIPPED',
    ok: 'ok',
  },
  /** Short, in a column. */
  leftOutMark: 'LEFT OUT',
  listHead: ['No.', 'Required', 'Result'] as readonly string[],
  listNote: 'The findings of each number, word for word, are in the technical annex.',
  answered: { yes: 'Confirmed', no: 'Answered with no', skip: 'Left open' },
  answerBy: (answer: string, by: string) => `${answer} by ${by}`,
  remark: (text: string) => `Remark: ${text}`,
  photos: (names: string) => `Photos: ${names}`,
  checkedByGw: 'Checked by the program',
  checkedInPart: 'Checked by the program as far as it can know; the rest:',
  confirmedOnly: 'Word of a person, not checked: confirmed',
  measured: 'Measured',

  deviationsTitle: 'Deviations',
  deviationsText:
    'These steps are not ok and stay so. A named person accepted each of them; gw does not judge who may do so.',
  deviationsHead: ['Required', 'Result', 'Reason', 'Approved by', 'When'] as readonly string[],

  okTitle: 'What is ok',
  okHead: ['Required, and met', 'How it was checked'] as readonly string[],
  markText,
  annexTitle: 'Technical annex',
  annexText: 'What the checks found, word for word, in English.',
  titlesOfList: 'Some titles are those of the checklist, which has them in one language only.',

  attachmentsTitle: 'Attachments',
  attachmentsHead: ['File', 'Kind', 'Bytes', 'SHA-256'] as readonly string[],

  signatureTitle: 'Signature and verification',
  signatureRows: { algorithm: 'Algorithm', serial: 'Device', fingerprint: 'Certificate, SHA-256' },
  /** Titles by their ids, where they are to be others than those of the record and its verification. */
  findingTitles: {} as Readonly<Record<string, string>>,
  redLineTitles: {} as Readonly<Record<string, string>>,
};
