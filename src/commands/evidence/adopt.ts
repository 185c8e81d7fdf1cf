import { GwCommand, type Outcome } from '../../cli/command.ts';
import { passwordFileFlag, readDevicePassword } from '../../cli/device-password.ts';
import { hostFlag, siteFlag, viaFlag } from '../../cli/flags.ts';
import { renderEvidenceAdopted } from '../../cli/render/evidence.ts';
import type { EvidenceAdopted as Result } from '../../lib/toolkit/evidence/evidence.result.ts';

export default class EvidenceAdopt extends GwCommand<Result> {
  static override summary = 'Adopt new records of the evidence file at once, as a signed-in person.';
  static override description =
    'A running gateway applies contradictions at once; added records count after its restart, or by this command. Read the added records first: `gw evidence show FACT`. --password-file signs in; root and the user of `gw serve` need none, on the gateway or by the login of --via.';
  static override examples = [
    '<%= config.bin %> evidence adopt',
    '<%= config.bin %> evidence adopt --host robot-7.local --password-file device-password.txt',
  ];
  static override flags = { site: siteFlag, via: viaFlag, host: hostFlag, 'password-file': passwordFileFlag };
  static override readonly schema = 'gw/evidence-adopt/1';

  protected override async execute(): Promise<Outcome<Result>> {
    const { flags } = await this.parse(EvidenceAdopt);
    const { host } = flags;
    const password = await readDevicePassword(flags['password-file']);
    const { adoptEvidence } = await import('../../lib/toolkit/evidence/adopt.ts');
    const data = await this.withToolkit(flags, (toolkit, signal) =>
      adoptEvidence(toolkit, { host, password }, { signal, onProgress: () => {} }),
    );
    return { data };
  }

  protected override readonly render = renderEvidenceAdopted;
}
