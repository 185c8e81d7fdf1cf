import { command } from '../../cli/define.ts';
import { acceptUndecidedFlag, siteFlag, viaThereFlag } from '../../cli/flags.ts';
import { renderEnrolStatus } from '../../cli/render/enrol.ts';

export default command({
  summary: 'Show the identity of this device: serial, validity, fingerprint.',
  description:
    'Reads enrolment.identityDir of the site file and makes no connection. Exits with 1 when there is no identity, when it is broken or expired, or when it does not match the site file; also when something was not checked, unless --accept-undecided.',
  examples: [
    '<%= config.bin %> enrol status',
    '<%= config.bin %> enrol status --json',
    '<%= config.bin %> enrol status --via technician@192.0.2.2 --site /etc/gw/site.yaml',
  ],
  flags: { site: siteFlag, via: viaThereFlag, 'accept-undecided': acceptUndecidedFlag },
  schema: 'gw/enrol-status/1',
  there: async () => (await import('../../lib/toolkit/enrol/enrol.result.ts')).enrolStatusSchema,
  async run({ flags }) {
    const { readEnrolStatus } = await import('../../lib/toolkit/enrol/status.ts');
    const data = await this.call(flags, readEnrolStatus, {});
    return await this.judged(data, data.verdict, flags);
  },
  render: renderEnrolStatus,
});
