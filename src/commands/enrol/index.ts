import { Flags } from '@oclif/core';
import { command } from '../../cli/define.ts';
import { siteFlag, viaThereFlag } from '../../cli/flags.ts';
import { withProgress } from '../../cli/progress.ts';
import { renderEnrol } from '../../cli/render/enrol.ts';

export default command({
  summary: 'Enrol this device in the cloud, once, on the gateway itself or through --via.',
  description:
    'Reads the serial number from the chassis, generates a key that never leaves the gateway, and sends a certificate request with a one-time code to enrolment.url of the site file. The code is typed without echo, or read from the first line of a file or stdin, or from an environment variable; never from an argument; with --via it is read here and sent through the SSH connection to the gw there, for the login there, which must be that of `gw serve`: the identity belongs to it. Nothing is installed unless the answer is verified completely. An interrupted run is resumed by the next one, with the same key. An existing identity is replaced only with --renew.',
  examples: [
    '<%= config.bin %> enrol',
    '<%= config.bin %> enrol --site robot-7/site.yaml --code-file code.txt',
    'CODE=… <%= config.bin %> enrol --code-env CODE --json',
    '<%= config.bin %> enrol --renew',
    '<%= config.bin %> enrol --via gw@192.0.2.2 --site /etc/gw/site.yaml',
  ],
  flags: {
    site: siteFlag,
    via: viaThereFlag,
    renew: Flags.boolean({
      summary: 'Replace the existing identity; needs a new one-time code.',
      default: false,
    }),
    'code-file': Flags.file({
      summary: 'Read the one-time code from the first line of this file, which must be private to its owner.',
      helpValue: 'FILE',
      exclusive: ['code-env'],
    }),
    'code-env': Flags.string({
      summary: 'Read the one-time code from this environment variable.',
      helpValue: 'NAME',
    }),
  },
  schema: 'gw/enrol/1',
  async run({ flags }) {
    const { readOneTimeCode } = await import('../../cli/secrets.ts');
    const { signal } = this;
    const codeOfPerson = () =>
      readOneTimeCode({ file: flags['code-file'], variable: flags['code-env'] }, process.env, { signal });
    if (flags.via !== undefined) {
      const { enrolSchema } = await import('../../lib/toolkit/enrol/enrol.result.ts');
      const secret = { text: await codeOfPerson(), flags: ['--code-file', '--code-env'] };
      return await this.runThere(flags.via, enrolSchema, secret);
    }
    const { openToolkit } = await import('../../lib/toolkit/index.ts');
    const { enrolDevice } = await import('../../lib/toolkit/enrol/enrol.ts');
    const toolkit = await openToolkit(flags.site);
    const data = await withProgress({ quiet: this.isQuiet }, (progress) => {
      const readCode = () => {
        progress.stop();
        return codeOfPerson();
      };
      return enrolDevice(
        toolkit,
        { renew: flags.renew, readCode },
        { signal, onProgress: (text) => progress.say(text) },
      );
    });
    if (data.clock.verdict === 'wrong') this.warn('The clock of this device differs from that of the endpoint.');
    return { data };
  },
  render: renderEnrol,
});
