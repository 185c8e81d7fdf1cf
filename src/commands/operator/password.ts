import { Flags } from '@oclif/core';
import { command } from '../../cli/define.ts';
import { siteFlag, viaThereFlag } from '../../cli/flags.ts';
import { renderOperatorPassword } from '../../cli/render/operator.ts';

export default command({
  summary: 'Set the device password of the operator surface.',
  description:
    'Prompts for it twice without echo; without a terminal reads the first line of stdin. Writes its scrypt hash to operator.passwordFile of the site file, readable for its owner only. The password itself is never an argument and never stored; with --via it is read here and sent through the SSH connection to the gw there, for the login there, which must be that of `gw serve`: the file belongs to it.',
  examples: [
    '<%= config.bin %> operator password',
    '<%= config.bin %> operator password --password-file new-password.txt',
    '<%= config.bin %> operator password --via gw@192.0.2.2 --site /etc/gw/site.yaml',
    'pass show robot-7 | <%= config.bin %> operator password --site robot-7/site.yaml',
  ],
  flags: {
    site: siteFlag,
    via: viaThereFlag,
    'password-file': Flags.file({
      summary: 'Read the new password from the first line of this file, which must be readable for its owner only.',
      helpValue: 'FILE',
    }),
  },
  schema: 'gw/operator-password/1',
  async run({ flags }) {
    const { passwordFileOf, passwordProblem, setOperatorPassword } = await import(
      '../../lib/toolkit/operator/password.ts'
    );
    const { readNewPassword } = await import('../../cli/secrets.ts');
    // Fails before the prompt if the site file names no file for the hash.
    if (flags.via === undefined) await passwordFileOf(flags.site);
    const password = await readNewPassword(flags['password-file'], passwordProblem, {
      signal: this.signal,
      interrupted: 'Interrupted; the password was not changed.',
    });
    if (flags.via !== undefined) {
      const { operatorPasswordSchema } = await import('../../lib/toolkit/operator/operator.result.ts');
      return await this.runThere(flags.via, operatorPasswordSchema, { text: password, flags: ['--password-file'] });
    }
    return { data: await setOperatorPassword(flags.site, password) };
  },
  render: renderOperatorPassword,
});
