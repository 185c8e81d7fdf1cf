import { Args, Flags } from '@oclif/core';
import { runCarefully } from '../../cli/careful-run.ts';
import { GwCommand, type Outcome } from '../../cli/command.ts';
import { passwordFileFlag, readDevicePassword } from '../../cli/device-password.ts';
import { hostFlag, numberFlag, siteFlag, viaFlag } from '../../cli/flags.ts';
import { printable } from '../../cli/output.ts';
import { onParentLoss } from '../../cli/parent-loss.ts';
import { renderEvidenceVerified } from '../../cli/render/evidence-verify.ts';
import { exitCodes, GwError } from '../../lib/error/index.ts';
import { firstOf } from '../../lib/lifecycle/index.ts';
import { type TrialKind, trialKinds } from '../../lib/motion/index.ts';
import type { EvidenceVerified as Result } from '../../lib/toolkit/evidence/verify.result.ts';

const INTERRUPTED =
  'Interrupted. The trial is cancelled first, within seconds; a second Ctrl-C ends at once, and the gateway cancels it after 3 s.';
/** What a person on site has to say, by flag. */
const conditionFlags = {
  'robot-will-move': 'the robot may move',
  'space-free': 'no person and no thing is within 1.5 m of it and its way',
  'emergency-stop-in-hand': 'a hand is on its emergency stop',
} as const;

export default class EvidenceVerify extends GwCommand<Result> {
  static override summary = 'Verify what orders rely on by a supervised trial: the robot moves at most 1 m.';
  static override description =
    'THE ROBOT MOVES. One order through the running gateway and its gate: a stop is tried first (the robot sets out and is cancelled), then a move with a turn, a docking from within 1 m, and setting the pose. What the chassis does is compared with what each fact says; verdicts become records of the evidence file, with the samples beside it, and count at once. A person stands beside the robot with a hand on the emergency stop: Ctrl-C, a lost terminal, or 3 s without this command cancel the trial. Takes up to a minute. --password-file signs in; on the gateway itself the user of `gw serve` needs none. Ends with 0 when every fact on trial holds, with 1 when one differs or was not decided, with 4 when the trial was refused, and with 130 after an interruption.';
  static override examples = [
    '<%= config.bin %> evidence verify stop --robot-will-move --space-free --emergency-stop-in-hand --who "J. Doe"',
    '<%= config.bin %> evidence verify move --towards 90 --distance 0.6 --robot-will-move --space-free --emergency-stop-in-hand --who "J. Doe"',
    '<%= config.bin %> evidence verify dock --robot-will-move --space-free --emergency-stop-in-hand --who "J. Doe" --password-file device-password.txt',
    '<%= config.bin %> evidence verify pose --unattended --who demo',
  ];
  static override usage =
    'evidence verify (stop|move|pose|dock) --who NAME (--robot-will-move --space-free --emergency-stop-in-hand | --unattended) [--towards NUMBER] [--distance NUMBER] [-s FILE] [--via USER@HOST[:PORT]] [--host HOST] [--password-file FILE] [--json]';
  static override args = {
    kind: Args.string({ description: 'What is tried.', options: [...trialKinds], required: true }),
  };
  static override flags = {
    'robot-will-move': Flags.boolean({ summary: 'The robot may move, or take itself for turned (pose).' }),
    'space-free': Flags.boolean({ summary: 'No person and no thing is within 1.5 m of the robot and its way.' }),
    'emergency-stop-in-hand': Flags.boolean({ summary: 'A hand is on the emergency stop of the robot.' }),
    unattended: Flags.boolean({
      summary: 'No person is on site: only for a chassis that reports that it is simulated.',
      exclusive: Object.keys(conditionFlags),
    }),
    who: Flags.string({ summary: 'Who stands beside the robot.', helpValue: 'NAME', required: true }),
    towards: numberFlag({ summary: 'move, stop: course on the map in degrees', min: -360, max: 360 }),
    distance: numberFlag({ summary: 'move: way in metres', min: 0.3, max: 1 }),
    site: siteFlag,
    via: viaFlag,
    host: hostFlag,
    'password-file': passwordFileFlag,
  };
  static override readonly schema = 'gw/evidence-verify/1';

  protected override async execute(): Promise<Outcome<Result>> {
    const { args, flags } = await this.parse(EvidenceVerify);
    const missing = Object.entries(conditionFlags).filter(([name]) => !flags[name as keyof typeof conditionFlags]);
    if (!flags.unattended && missing.length > 0) {
      const kind = args.kind === 'pose' ? 'sets another pose of the robot' : 'drives the robot';
      throw new GwError(
        'RISK_NOT_ACCEPTED',
        `This ${kind}. Not confirmed by a person on site: ${missing.map(([, text]) => text).join('; ')}.`,
        {
          remedy: `Stand beside the robot, see that it is so, then add ${missing.map(([name]) => `--${name}`).join(' ')}.`,
        },
      );
    }
    const options = {
      kind: args.kind as TrialKind,
      who: flags.who,
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
    const watching = onParentLoss(() => gone.abort(new GwError('INTERRUPTED', 'Whoever started this has ended.')));
    const data = await this.withToolkit(flags, (toolkit, signal) =>
      runCarefully({ quiet: this.jsonEnabled(), signal, interrupted: INTERRUPTED }, (context) => {
        const onAlarm = (text: string) => {
          context.quieten();
          this.note(`\u0007${printable(text)}`);
        };
        const whole = firstOf(context.signal, gone.signal);
        return verifyEvidence(toolkit, options, { ...context, signal: whole, onAlarm });
      }),
    ).finally(() => watching[Symbol.dispose]());
    return { data, ok: data.verdict === 'verified', exitCode: exitCodeOf(data) };
  }

  protected override render(data: Result): string {
    return renderEvidenceVerified(data);
  }
}

function exitCodeOf({ verdict, interrupted }: Result): number {
  if (verdict === 'refused') return exitCodes.refused;
  if (interrupted) return exitCodes.interrupted;
  return exitCodes.checkFailed;
}
