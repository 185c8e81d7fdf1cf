import { Flags } from '@oclif/core';
import { GwCommand, type Outcome } from '../../cli/command.ts';
import { acceptUndecidedFlag, siteFlag, viaFlag } from '../../cli/flags.ts';
import { withProgress } from '../../cli/progress.ts';
import { renderOperatorCheck } from '../../cli/render/operator.ts';
import type { OperatorCheck as Result } from '../../lib/toolkit/operator/operator.result.ts';

export default class OperatorCheck extends GwCommand<Result> {
  static override summary = 'Check both sockets of the running operator server over the network.';
  static override description =
    'Compares the status of every specified route and tries all known bypasses of the read-only socket. Read-only; uses up no sign-in attempt. Exits with 1 when a check fails or something was not checked, unless --accept-undecided; with 3 when the server does not answer.';
  static override examples = [
    '<%= config.bin %> operator check',
    '<%= config.bin %> operator check --site robot-7/site.yaml --json',
    '<%= config.bin %> operator check --host gateway.local',
    '<%= config.bin %> operator check --via technician@192.0.2.2',
  ];
  static override flags = {
    site: siteFlag,
    via: viaFlag,
    host: Flags.string({
      summary: 'Host of the operator server. From another machine the read-only socket must not be reachable.',
      helpValue: 'HOST',
      default: '127.0.0.1',
    }),
    'accept-undecided': acceptUndecidedFlag,
  };
  static override readonly schema = 'gw/operator-check/1';

  protected override async execute(): Promise<Outcome<Result>> {
    const { flags } = await this.parse(OperatorCheck);
    const { checkOperator } = await import('../../lib/toolkit/operator/check.ts');
    const data = await this.withToolkit(flags, (toolkit, signal) =>
      withProgress({ quiet: this.jsonEnabled() }, (progress) =>
        checkOperator(toolkit, { host: flags.host }, { signal, onProgress: progress.say }),
      ),
    );
    return await this.judged(data, data.verdict, flags);
  }

  protected override readonly render = renderOperatorCheck;
}
