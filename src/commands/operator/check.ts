import { Flags } from '@oclif/core';
import { command } from '../../cli/define.ts';
import { acceptUndecidedFlag, siteFlag, viaFlag } from '../../cli/flags.ts';
import { renderOperatorCheck } from '../../cli/render/operator.ts';

export default command({
  summary: 'Check both sockets of the running operator server over the network.',
  description:
    'Compares the status of every specified route and tries all known bypasses of the read-only socket. Read-only; uses up no sign-in attempt. Exits with 1 when a check fails or something was not checked, unless --accept-undecided; with 3 when the server does not answer.',
  examples: [
    '<%= config.bin %> operator check',
    '<%= config.bin %> operator check --site robot-7/site.yaml --json',
    '<%= config.bin %> operator check --host gateway.local',
    '<%= config.bin %> operator check --via technician@192.0.2.2',
  ],
  flags: {
    site: siteFlag,
    via: viaFlag,
    host: Flags.string({
      summary: 'Host of the operator server. From another machine the read-only socket must not be reachable.',
      helpValue: 'HOST',
      default: '127.0.0.1',
    }),
    'accept-undecided': acceptUndecidedFlag,
  },
  schema: 'gw/operator-check/1',
  async run({ flags }) {
    const { checkOperator } = await import('../../lib/toolkit/operator/check.ts');
    const data = await this.call(flags, checkOperator, { host: flags.host }, { shown: 'spinner' });
    return await this.judged(data, data.verdict, flags);
  },
  render: renderOperatorCheck,
});
