import type { Finding } from '../finding.result.ts';
import { notChecked, ok, wrong } from '../finding.ts';
import { currentPasswordId, formerPasswordIds, PASSWORD_VALUE } from '../site/password-id.ts';
import type { CheckContext, Toolkit } from '../toolkit.ts';
import { conclude } from '../verdict.ts';
import { type KeptRecord, type KeptRecords, keptRecords } from './kept-records.ts';
import type { PasswordChange, RecordCheck } from './record-check.result.ts';

const spec = 'Evidence marks';

/**
 * The newest record of one checklist for this robot in the state folder of this machine: whether it is here, complete,
 * signed, and of the device that is here now. Changes nothing. Only a record of a simulator makes it ask the chassis.
 */
export async function checkKeptRecord(
  toolkit: Toolkit,
  { list }: { readonly list: string },
  context: CheckContext,
): Promise<RecordCheck> {
  const kept = await keptRecords(toolkit);
  const record = kept.records.find(({ subject }) => subject.checklist === list);
  const findings = [
    foundFinding(list, kept, record),
    completeFinding(list, record),
    signedFinding(record),
    await deviceFinding(toolkit, record, context),
  ];
  return {
    verdict: conclude(findings),
    list,
    folder: kept.folder,
    path: record?.path ?? null,
    endedAt: record?.record.endedAt ?? null,
    recorded: record?.subject.verdict ?? null,
    deviations: record?.robot.deviations ?? null,
    findings,
  };
}

function foundFinding(list: string, { folder, notes }: KeptRecords, record: KeptRecord | undefined): Finding {
  const start = { id: 'found', title: `A record of the checklist ${list} is on this machine`, spec };
  if (record !== undefined && notes.length > 0) {
    return notChecked(
      start,
      [`the newest that can be read is ${record.path}, of ${record.record.endedAt}`, ...notes].join('; '),
      clearRecords(folder),
    );
  }
  if (record !== undefined) return ok(start, `${record.path}, of ${record.record.endedAt}`);
  const detail = [`no record of this robot by the checklist ${list} in ${folder}`, ...notes].join('; ');
  return notChecked(start, detail, `Run \`gw checklist run ${list}\` here, or copy its record into that folder.`);
}

/** What a person does where the newest record is not known. */
export const clearRecords = (folder: string) =>
  `Check the clock of this machine, and move what is no record, or has a wrong time, out of ${folder}; then repeat this step.`;

const NONE = 'there is no record';

function completeFinding(list: string, record: KeptRecord | undefined): Finding {
  const start = { id: 'complete', title: 'Every step in it is ok or an accepted deviation', spec };
  if (record === undefined) return notChecked(start, NONE);
  const { ok: fine, accepted, counts, redLines } = record.robot;
  if (fine) return ok(start, `all ${counts.ok} steps are ok`);
  const open = record.robot.steps.filter(({ verdict, deviation }) => verdict !== 'ok' && deviation === null);
  if (accepted) return ok(start, `${counts.ok} steps are ok, the others accepted deviations`);
  const ids = open.slice(0, 5).map(({ id, verdict }) => `${id} ${verdict}`);
  const more = open.length > ids.length ? ` and ${open.length - ids.length} more` : '';
  const red = redLines.map(({ title }) => `red line: ${title}`);
  return wrong(
    start,
    `NOT COMPLETE: ${[...ids, ...red].join(', ')}${more}`,
    `Continue with \`gw checklist run ${list} --resume\`; do not hand over unchecked steps.`,
  );
}

function signedFinding(record: KeptRecord | undefined): Finding {
  const start = { id: 'signed', title: 'It is signed by this robot, and verified', spec };
  if (record === undefined) return notChecked(start, NONE);
  const remedy = `Run \`gw checklist verify ${record.path}\` for the findings.`;
  switch (record.state) {
    case 'verified':
      return ok(start, 'the signature, the certificate and the attachments are verified');
    case 'wrong':
      return wrong(start, 'its verification FAILED', remedy);
    case 'not-signed':
      return notChecked(start, 'it is not signed', 'Enrol the device with `gw enrol`, then run that checklist again.');
    case 'not-verified':
      return notChecked(start, 'it is signed, and could not be verified', remedy);
  }
}

/** A simulator has the serial number that its site file says. */
async function deviceFinding(
  toolkit: Toolkit,
  record: KeptRecord | undefined,
  { signal }: CheckContext,
): Promise<Finding> {
  const start = { id: 'device', title: 'It is of the device that is here now', spec: 'Device' };
  if (record === undefined) return notChecked(start, NONE);
  const { simulated, serial } = record.robot;
  if (simulated === undefined || simulated === null) {
    return notChecked(start, 'no step of it read whether the robot was a simulator', 'Run that checklist again.');
  }
  if (!simulated) return ok(start, `chassis ${serial}, no simulator`);
  const [{ createChassisClient, isSimulated }, { chassisAccess }] = await Promise.all([
    import('../../chassis/index.ts'),
    import('../chassis/access.ts'),
  ]);
  await using client = createChassisClient(await chassisAccess(toolkit));
  if (isSimulated(await client.identity(signal))) return ok(start, `the simulator ${serial}, which is here`);
  return wrong(start, 'it is of a SIMULATED ROBOT, and this is none', 'Run that checklist on this robot.');
}

/**
 * Whether the device password is one that this gateway never had, as far as it knows: by the ids of stored hashes in its
 * records, of any checklist, and by the hashes of former passwords, to which `gw operator password` returns with such a password.
 * Each of these checklists must have left a record with an id that did not fail its verification, and every id must be among the
 * former ones: with another one the password was never compared.
 */
export async function checkPasswordChange(
  toolkit: Toolkit,
  { since }: { readonly since: readonly string[] },
): Promise<PasswordChange> {
  const start = { id: 'new-password', title: 'The device password is new since commissioning', spec: 'Authentication' };
  const setNew = 'Set a new one with `gw operator password` on the gateway, together with the people of the customer.';
  const answer = (finding: Finding): PasswordChange => ({ verdict: finding.verdict, findings: [finding] });
  const now = await currentPasswordId(toolkit.site);
  if (now === null) return answer(wrong(start, 'no device password is set on this machine', setNew));
  const { records, folder, notes } = await keptRecords(toolkit);
  const compared = records.flatMap(({ robot, subject, state }) => {
    const values = robot.steps.flatMap((step) => step.values).filter(({ name }) => name === PASSWORD_VALUE);
    const { checklist: list, endedAt: at } = subject;
    return values.map(({ value }) => ({ list, at, id: value, isSame: value === now, isGenuine: state !== 'wrong' }));
  });
  const same = compared.find(({ isSame }) => isSame);
  if (same !== undefined) {
    return answer(wrong(start, `it is the one of the record ${same.list} of ${same.at}`, setNew));
  }
  const former = await formerPasswordIds(toolkit.site);
  if (former.includes(now))
    return answer(wrong(start, 'it was set on this gateway before, and another one since', setNew));
  // A password that was set between two of the checklists differs from that of the first one alone.
  const genuine = compared.filter(({ isGenuine }) => isGenuine);
  const silent = since.filter((list) => !genuine.some((one) => one.list === list));
  const newest = genuine.find(({ list }) => since.includes(list));
  if (newest === undefined || silent.length > 0) {
    const detail = [`no record of ${silent.join(' or ')} in ${folder} says which password was set then`, ...notes];
    return answer(notChecked(start, detail.join('; '), setNew));
  }
  if (notes.length > 0) {
    return answer(
      notChecked(start, ['a record of this password may be among them', ...notes].join('; '), clearRecords(folder)),
    );
  }
  const unknown = genuine.find(({ id }) => !former.includes(String(id)));
  if (unknown !== undefined) {
    const detail = `it was never compared with that of the record ${unknown.list} of ${unknown.at}, whose hash is not kept`;
    return answer(notChecked(start, detail, setNew));
  }
  return answer(ok(start, `set after the record ${newest.list} of ${newest.at}`));
}
