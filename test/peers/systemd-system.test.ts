import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exitCodes } from '../../src/lib/error/index.ts';
import { hashPassword } from '../../src/lib/operator/sign-in/password-hash.ts';
import { hasNamespaces, hasProgram } from './peer.ts';
import { bootSystemd, INSTALLED, type SystemdSystem } from './systemd-system.ts';

const HEALTH = 'curl -s -o /dev/null -m 2 http://127.0.0.1:5173/api/health';

describe.skipIf(!hasProgram('systemctl') || !hasProgram('nsenter') || !hasNamespaces())(
  'gw.service under systemd',
  () => {
    let system: SystemdSystem;
    beforeAll(async () => {
      system = await bootSystemd();
      const init = `site init site.yaml --yes --name Test --chassis-host 127.0.0.1 --serial SN-1`;
      const { code, stderr } = await system.run(
        `cd /var/lib/gw && runuser -u gw -- env PATH="$PATH" node ${INSTALLED}/bin/run.js ${init}`,
      );
      expect([code, stderr]).toEqual([0, '']);
    });
    afterAll(async () => await system?.[Symbol.asyncDispose]());

    const property = async (name: string) => (await system.run(`systemctl show gw --value -p ${name}`)).stdout.trim();
    /** Until it answers; prints the HTTP status. */
    const UNTIL_ANSWERED = `for i in $(seq 300); do ${HEALTH} && break; sleep 0.1; done; ${HEALTH} -w '%{http_code}'`;

    it('is started when it answers', async () => {
      const { code, stdout } = await system.run(`systemctl start gw && ${HEALTH} -w '%{http_code}'`);
      expect([code, stdout]).toEqual([0, '200']);
    });

    it('writes JSON with the priority of each line to the journal, as gw', async () => {
      const { stdout } = await system.run('journalctl -u gw -o json --no-pager');
      const entries = stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Record<string, string>);
      const ofGw = entries.filter((entry) => entry._SYSTEMD_UNIT === 'gw.service');
      expect(ofGw.length).toBeGreaterThan(5);
      for (const { MESSAGE = '', PRIORITY, SYSLOG_IDENTIFIER } of ofGw) {
        const { level = 'info' } = JSON.parse(MESSAGE) as { level?: string };
        expect([SYSLOG_IDENTIFIER, PRIORITY]).toEqual(['gw', { error: '3', warn: '4', info: '6' }[level]]);
      }
      // The chassis of this site does not answer.
      expect(ofGw.map(({ PRIORITY }) => PRIORITY)).toContain('4');
    });

    it('goes on without an inspector after SIGUSR1, and in the same process while its event loop turns', async () => {
      const before = await property('MainPID');
      // Longer than WatchdogSec=.
      const { stdout } = await system.run(`systemctl kill -s USR1 gw; sleep 12; ss -ltn | grep -c :9229`);
      expect([stdout, await property('MainPID'), await property('NRestarts')]).toEqual(['0\n', before, '0']);
    });

    it('is killed and started again when it stands still', async () => {
      const { stdout } = await system.run(`systemctl kill -s STOP gw
      for i in $(seq 300); do systemctl show gw --value -p Result | grep watchdog && break; sleep 0.1; done
      ${UNTIL_ANSWERED}`);
      expect([stdout, await property('NRestarts')]).toEqual(['watchdog\n200', '1']);
    });

    it('is started again once its launcher is back', async () => {
      const packaging = `${INSTALLED}/packaging`;
      const { stdout } = await system.run(`mount -t tmpfs none ${packaging}; systemctl kill -s KILL gw
      for i in $(seq 100); do [ "$(systemctl show gw --value -p ExecMainStatus)" = 2 ] && break; sleep 0.1; done
      systemctl show gw --value -p ExecMainStatus; umount ${packaging}; ${UNTIL_ANSWERED}`);
      expect(stdout).toBe('2\n200');
    });

    it('reads a secret from a credential of systemd, which is there while the service runs', async () => {
      const hash = await hashPassword('correct horse');
      const credential = '/run/credentials/gw.service/device-password';
      const asGw = `cd /var/lib/gw && runuser -u gw -- env PATH="$PATH" node ${INSTALLED}/bin/run.js`;
      const signIn = (password: string) =>
        `curl -s -o /dev/null -w '%{http_code} ' -H 'content-type: application/json' --data '{"password":"${password}"}' http://127.0.0.1:5173/api/anmeldung`;
      const { stdout, stderr } = await system.run(`systemctl stop gw
      install -d -m 700 /etc/gw; umask 077; printf '%s\n' '${hash}' > /etc/gw/device-password; umask 022
      mkdir -p /etc/systemd/system/gw.service.d
      printf '[Service]\nLoadCredential=device-password:/etc/gw/device-password\n' > /etc/systemd/system/gw.service.d/secrets.conf
      cp /var/lib/gw/site.yaml /var/lib/gw/before.yaml
      sed -i 's|# passwordFile: .*|passwordFile: ${credential}|' /var/lib/gw/site.yaml
      systemctl daemon-reload && systemctl start gw
      stat -c '%a %U ' ${credential}
      ${signIn('wrong')}; ${signIn('correct horse')}`);
      expect([stdout, stderr]).toEqual(['400 gw \n401 200 ', '']);
      // A command beside the service reads the same one, and without the service says what makes it.
      const beside = await system.run(`${asGw} site check --json`);
      const passwordLine = (text: string) =>
        (JSON.parse(text) as { data: { findings: { id: string }[] } }).data.findings.find(
          ({ id }) => id === 'operator-password',
        );
      expect(passwordLine(beside.stdout)).toMatchObject({ verdict: 'ok' });
      const without = await system.run(`systemctl stop gw; ${asGw} site check --json`);
      expect(passwordLine(without.stdout)).toMatchObject({
        verdict: 'not-checked',
        remedy: expect.stringContaining('LoadCredential=device-password:'),
      });
      await system.run('mv /var/lib/gw/before.yaml /var/lib/gw/site.yaml; systemctl start gw');
    });

    it('stays down with an invalid site file, and the journal has the error', async () => {
      const { stdout, code } = await system.run(
        'systemctl stop gw; echo "nonsense: 1" >> /var/lib/gw/site.yaml; systemctl start gw',
      );
      expect([code, stdout]).toEqual([1, '']);
      expect([await property('ExecMainStatus'), await property('SubState')]).toEqual([
        String(exitCodes.configuration),
        'failed',
      ]);
      expect((await system.run('journalctl -u gw -p err -o cat --no-pager')).stdout).toContain('"SITE_FILE_INVALID"');
    });
  },
);
