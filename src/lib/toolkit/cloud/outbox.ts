import type { CheckContext, Toolkit } from '../toolkit.ts';
import type { Deciding } from '../verdict.ts';
import type { CloudOutbox } from './cloud.result.ts';
import { type CloudOptions, judgeCloud, readCloudStatus } from './status.ts';

/** The messages that the running gateway keeps until the broker has acknowledged them. Throws OPERATOR_NOT_REACHABLE. */
export async function readCloudOutbox(
  toolkit: Toolkit,
  options: CloudOptions,
  context: CheckContext,
): Promise<CloudOutbox> {
  const { status, detail, remedy, outbox } = await readCloudStatus(toolkit, options, context);
  return { link: { status, detail, remedy }, outbox };
}

/** A gateway without a cloud needs no outbox. */
export function judgeOutbox({ link, outbox }: CloudOutbox): Deciding['verdict'] {
  if (outbox !== null) return isAccepting(outbox) ? 'ok' : 'wrong';
  const verdict = judgeCloud(link);
  return verdict === 'ok' ? 'wrong' : verdict;
}

/** Whether it is open and nothing is to be done about it: no message is held back, and the file was not damaged. */
export function isAccepting({
  status,
  remedy,
}: Pick<NonNullable<CloudOutbox['outbox']>, 'status' | 'remedy'>): boolean {
  return status === 'open' && remedy === null;
}
