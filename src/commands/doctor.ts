import { command } from '../cli/define.ts';
import { acceptUndecidedFlag, siteFlag, viaThereFlag } from '../cli/flags.ts';
import { renderDoctor } from '../cli/render/doctor.ts';

export default command({
  summary: 'Check this installation: runtime, files, clock, disk, ports, versions, unit of systemd, programs.',
  description:
    'Each line has its state, and what to type where it is wrong. Works without a site file, and with an invalid one: what only the site file names is then not checked. Connects to nothing but the gateway on this machine. Exits with 1 when a line is wrong, or was not checked, unless --accept-undecided; optional lines do not decide. Run it as the user of `gw serve`: another user may see other files.',
  examples: [
    '<%= config.bin %> doctor',
    '<%= config.bin %> doctor --via root@192.0.2.2',
    '<%= config.bin %> doctor --accept-undecided --json',
  ],
  flags: { site: siteFlag, via: viaThereFlag, 'accept-undecided': acceptUndecidedFlag },
  schema: 'gw/doctor/1',
  there: async () => (await import('../lib/toolkit/doctor/doctor.result.ts')).doctorSchema,
  async run({ flags }) {
    const { examine, thisMachine } = await import('../lib/toolkit/doctor/doctor.ts');
    const { doctorOptions } = await import('../cli/doctor-options.ts');
    const data = await examine(flags.site, thisMachine({ ...doctorOptions(this.config), signal: this.signal }));
    return await this.judged(data, data.verdict, flags);
  },
  render: renderDoctor,
});
