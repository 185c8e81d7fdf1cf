import { Args, Flags } from '@oclif/core';
import { runCarefully } from '../../cli/careful-run.ts';
import { command } from '../../cli/define.ts';
import { gatewayFlags, numberFlag } from '../../cli/flags.ts';
import { printable } from '../../cli/output.ts';
import { onParentLoss } from '../../cli/parent-loss.ts';
import { renderEvidenceVerified } from '../../cli/render/evidence.ts';
import { passwordFileFlag, readDevicePassword } from '../../cli/secrets.ts';
import { conditionFlags, confirmedBy } from '../../cli/trial-flags.ts';
import { exitCodes, GwError } from '../../lib/error/index.ts';
import { firstOf } from '../../lib/lifecycle/index.ts';
import { type TrialKind, trialKinds } from '../../lib/motion/index.ts';
import type { EvidenceVerified as Result } from '../../lib/toolkit/evidence/evidence.result.ts';

const INTERRUPTED =
  'Interrupted. Cancelling the trial, within seconds; a second Ctrl-C exits at once, and the gateway cancels the trial after 3 s.';

export default command({
  summary:
    'Verify the facts that orders rely on by a supervised trial: the robot moves at most 1 m (stop: 2 m on request).',
  description:
    'THE ROBOT MOVES. One order through the running gateway and its gate: first `stop` (the robot drives and is cancelled), then `move` (with a turn), `dock` (from within 1 m) and `pose`. The behaviour of the chassis is compared with each fact; verdicts are recorded in the evidence file, with the samples in a report beside it, and count at once. A person stands beside the robot with a hand on the emergency stop: Ctrl-C, a lost terminal, or 3 s without this command cancel the trial. Whether the robot stands is judged by its poses, which takes some seconds before and after each drive: usually half a minute, up to three minutes where poses arrive once a second. --password-file signs in; root and the user of `gw serve` need none, on the gateway or by the login of --via. Exits with 0 when every fact on trial holds, with 1 when a fact differs or is not decided, with 4 when the trial is refused, and with 130 after an interruption.',
  examples: [
    '<%= config.bin %> evidence verify stop --robot-will-move --space-free --emergency-stop-in-hand --who "J. Doe"',
    '<%= config.bin %> evidence verify move --towards 45 --distance 0.6 --robot-will-move --space-free --emergency-stop-in-hand --who "J. Doe"',
    '<%= config.bin %> evidence verify dock --robot-will-move --space-free --emergency-stop-in-hand --who "J. Doe" --password-file device-password.txt',
    '<%= config.bin %> evidence verify pose --unattended --who demo',
  ],
  usage:
    'evidence verify (stop|move|pose|dock) --who NAME (--robot-will-move --space-free --emergency-stop-in-hand | --unattended) [--towards NUMBER] [--distance NUMBER] [-s FILE] [--via USER@HOST[:PORT]] [--host HOST] [--password-file FILE] [--json]',
  args: {
    kind: Args.string({ description: 'Kind of trial.', options: [...trialKinds], required: true }),
  },
  flags: {
    'robot-will-move': Flags.boolean({ summary: 'Confirm that the robot may move, or assume another heading (pose).' }),
    'space-free': Flags.boolean({
      summary: 'Confirm that no person and no object is within 1.5 m of the robot and its way.',
    }),
    'emergency-stop-in-hand': Flags.boolean({ summary: 'Confirm that a hand is on the emergency stop of the robot.' }),
    unattended: Flags.boolean({
      summary: 'No person is on site: only for a chassis that reports that it is simulated.',
      exclusive: Object.keys(conditionFlags),
    }),
    // Not required of the parser: it would name this flag alone, and the missing confirmations only afterwards.
    who: Flags.string({ summary: 'Name of the person beside the robot (needed).', helpValue: 'NAME' }),
    towards: numberFlag({ summary: 'move, stop: course on the map in degrees', min: -360, max: 360 }),
    distance: numberFlag({ summary: 'way in metres; move: 0.3 to 1 (0.8), stop: 1 to 2 (1)', min: 0.3, max: 2 }),
    ...gatewayFlags,
    'password-file': passwordFileFlag,
  },
  schema: 'gw/evidence-verify/1',
  async run({ args, flags }) {
    const kind = args.kind as TrialKind;
    const options = {
      kind,
      who: confirmedBy(kind, flags),
      conditions: flags.unattended
        ? ({ unattended: true } as const)
        : { robotWillMove: true, spaceFree: true, emergencyStopInHand: true },
      towardsDeg: flags.towards,
      distanceM: flags.distance,
      host: flags.host,
      password: await readDevicePassword(flags['password-file']),
    };
    const { verifyEvidence } = await import('../../lib/toolkit/evidence/verify.ts');
    const gone = new AbortController();
    const watching = onParentLoss(() => gone.abort(new GwError('INTERRUPTED', 'The parent process has ended.')));
    const { lossOfTrial } = await import('../../lib/toolkit/motion/followed-run.ts');
    const data = await this.withToolkit(
      flags,
      (toolkit, signal) =>
        runCarefully({ quiet: this.isQuiet, signal, interrupted: INTERRUPTED }, (context) => {
          const onAlarm = (text: string) => {
            context.quieten();
            this.note(`\u0007${printable(text)}`);
          };
          const whole = firstOf(context.signal, gone.signal);
          return verifyEvidence(toolkit, options, { ...context, signal: whole, onAlarm });
        }),
      { ifLost: lossOfTrial },
    ).finally(() => watching[Symbol.dispose]());
    return { data, ok: data.verdict === 'verified', exitCode: exitCodeOf(data) };
  },
  render: renderEvidenceVerified,
});

function exitCodeOf({ verdict, interrupted }: Result): number {
  if (verdict === 'refused') return exitCodes.refused;
  if (interrupted) return exitCodes.interrupted;
  return exitCodes.checkFailed;
}
