import { command } from '../../cli/define.ts';
import { gatewayFlags } from '../../cli/flags.ts';
import { renderEvidenceAdopted } from '../../cli/render/evidence.ts';
import { passwordFileFlag, readDevicePassword } from '../../cli/secrets.ts';

export default command({
  summary: 'Adopt new records of the evidence file at once, as a signed-in person.',
  description:
    'A running gateway applies contradictions at once; added records count after its restart, or by this command. Read the added records first: `gw evidence show FACT`. --password-file signs in; root and the user of `gw serve` need none, on the gateway or by the login of --via.',
  examples: [
    '<%= config.bin %> evidence adopt',
    '<%= config.bin %> evidence adopt --host robot-7.local --password-file device-password.txt',
  ],
  flags: { ...gatewayFlags, 'password-file': passwordFileFlag },
  schema: 'gw/evidence-adopt/1',
  async run({ flags }) {
    const { host } = flags;
    const password = await readDevicePassword(flags['password-file']);
    const { adoptEvidence } = await import('../../lib/toolkit/evidence/adopt.ts');
    const data = await this.call(flags, adoptEvidence, { host, password });
    return { data };
  },
  render: renderEvidenceAdopted,
});
