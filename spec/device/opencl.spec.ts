import { suite } from 'uvu';
import { openDevice, Diagnostics } from '/tmp/wt-text/src/device/index.ts';
import { contract } from '/tmp/wt-text/spec/support/device-contract.ts';
const test = suite('device/opencl');
contract(test, { name: 'opencl', open: () => openDevice('opencl', new Diagnostics())!, launches: 200 });
test.run();
