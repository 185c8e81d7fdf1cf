import { GwError } from '../../error/index.ts';
import { MAY_BE_MOVING, MAY_DRIVE_ON } from './followed-run.ts';

const after = (lost: GwError, means: string, remedy: string) =>
  new GwError('SSH_LOST', `${lost.message} ${means}`, { tried: lost.tried, remedy, cause: lost });

/** A lost SSH connection during a trial, of whatever kind. */
export const lossOfTrial = (lost: GwError) =>
  after(lost, `${MAY_BE_MOVING}. The gateway cancels a trial after 3 s without this command.`, MAY_DRIVE_ON);

export const lossOfPose = (lost: GwError) =>
  after(
    lost,
    'Whether the pose was set is unknown.',
    'Do not let the robot drive before its pose on the page of the gateway is the one where it stands; otherwise set it again.',
  );

export const lossOfClear = (lost: GwError) =>
  after(
    lost,
    'Whether the stop was cleared is unknown: orders may pass.',
    'Stop it again with `gw motion stop` where that is not safe; the page of the gateway shows whether it is stopped.',
  );
