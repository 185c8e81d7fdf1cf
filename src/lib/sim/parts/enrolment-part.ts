import type { CertificateAuthority } from '../cloud/certificates.ts';
import { startEnrolment, writeCode } from '../cloud/enrolment.ts';
import type { SimEnrolment } from '../model.ts';
import type { PartStart } from './part-start.ts';

/** Broker and region in every enrolment answer; the specification names this region. */
const BROKER_HOST = '127.0.0.1';
const REGION = 'eu-central-1';

/** Starts the enrolment endpoint. With a folder, a file in it always has the next valid one-time code of the robot. */
export async function startEnrolmentPart(start: PartStart, ca: CertificateAuthority): Promise<SimEnrolment> {
  const { undo, stages, onEvent, clock, faults, serial, dir } = start;
  const newCode = (of = serial) => endpoint.newCode(of);
  const newCodeFile = async () => (dir === undefined ? null : writeCode(dir, newCode()));
  stages.enter('the certificates of the enrolment endpoint');
  const endpoint = undo.use(
    await startEnrolment({
      ca,
      clock,
      faults,
      broker: BROKER_HOST,
      region: REGION,
      async onUsed() {
        // A failed write must not change the answer.
        await newCodeFile().catch(() => {});
      },
    }),
  );
  const codePath = await newCodeFile();
  const { url, requests } = endpoint;
  onEvent({ event: 'listening', part: 'enrolment', url });
  const revoke = (of = serial) => endpoint.revoke(of);
  return { url, requests, caPem: ca.caPem, newCode, revoke, codePath };
}
