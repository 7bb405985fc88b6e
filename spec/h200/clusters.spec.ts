/**
 * Clusters of blocks against an NVIDIA H200: the launches of `fixtures/clusters/clusters.cu`, one behind the other in the same memory, by the PTX that
 * nvcc made of it. The recording has a digest of the first words behind each launch.
 */
import { suite } from 'uvu';
import { openCpuDevice } from '../../src/device/index.ts';
import { checkRecorded, openRecorded, recordedClusters } from '../support/clusters.ts';

const test = suite('h200/clusters');

const device = openCpuDevice({ threads: 1 });
const recorded = openRecorded(device, { target: 'cpu' });
test.after(() => device.close());

for (const launch of recordedClusters)
  test(`${launch.kernel} of ${launch.grid.join(' x ')} blocks${launch.cluster ? ` in clusters of ${launch.cluster.join(' x ')}` : ''}`, () =>
    checkRecorded(recorded, launch));

test.run();
