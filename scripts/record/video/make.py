"""Writes video.ptx (kernels of 64 forms), forms.txt and input.bin: 1024 triples of words."""
import random, struct
R = random.Random(7)
W = ['u32', 's32']; SEL = ['', '.b0', '.b1', '.b2', '.b3', '.h0', '.h1']; OPS = ['add', 'min', 'max']
forms = []
def tails():
    yield '', '', False
    for s in SEL[1:]: yield s, '', True
    for o in OPS: yield '', '.' + o, True
def emit(head, post, bare_b=False):
    for d, op, c in tails():
        for k in range(3):
            a, b = (R.choice(SEL), R.choice(SEL)) if k else ('', '')
            forms.append(f'{head}{post}{op} d{d}, a{a}, b{b}' + (', c' if c else ''))
for name in ['vadd', 'vsub', 'vabsdiff', 'vmin', 'vmax']:
    for dt in W:
        for at in W:
            for bt in W:
                for sat in ['', '.sat']: emit(f'{name}.{dt}.{at}.{bt}', sat)
for name in ['vshl', 'vshr']:
    for dt in W:
        for at in W:
            for sat in ['', '.sat']:
                for mode in ['clamp', 'wrap']: emit(f'{name}.{dt}.{at}.u32', f'{sat}.{mode}')
for at in W:
    for bt in W:
        for cmp in ['eq', 'ne', 'lt', 'le', 'gt', 'ge']: emit(f'vset.{at}.{bt}', f'.{cmp}')
for dt in W:
    for at in W:
        for bt in W:
            for sat in ['', '.sat']:
                for sc in ['', '.shr7', '.shr15']:
                    for po, na, nb, nc in [('', '', '', ''), ('.po', '', '', ''), ('', '-', '', ''), ('', '', '-', ''), ('', '', '', '-')]:
                        for k in range(2):
                            a, b = (R.choice(SEL), R.choice(SEL)) if k else ('', '')
                            forms.append(f'vmad.{dt}.{at}.{bt}{po}{sat}{sc} d, {na}a{a}, {nb}b{b}, {nc}c')
if __name__ == '__main__':
    import subprocess, os, sys
    # Forms that ptxas refuses are left out.
    def module(list_, per):
        out = ['.version 8.0\n.target sm_90\n.address_size 64\n']
        for k in range(0, len(list_), per):
            out.append(f'.visible .entry k{k // per}(.param .u64 input, .param .u64 output) {{\n.reg .b32 a, b, c, d, t, n; .reg .b64 p, q, o;\nld.param.u64 p, [input]; ld.param.u64 q, [output]; mov.u32 t, %tid.x;\nmul.wide.u32 o, t, 4; add.u64 q, q, o;')
            for i, f in enumerate(list_[k:k + per]):
                out.append(f'add.u32 n, t, {(k + i) * 16 % 1024}; mul.wide.u32 o, n, 12; add.u64 o, p, o; ld.global.u32 a, [o]; ld.global.u32 b, [o+4]; ld.global.u32 c, [o+8];\n{f}; st.global.u32 [q+{(k + i) * 64}], d;')
            out.append('ret;\n}')
        return '\n'.join(out)
    for attempt in range(4):
        open('video.ptx', 'w').write(module(forms, 64))
        r = subprocess.run(['ptxas', '-O1', '-arch=sm_90', 'video.ptx', '-o', '/tmp/video.cubin'], capture_output=True, text=True)
        if r.returncode == 0: break
        import re
        lines = open('video.ptx').read().split('\n'); bad = set()
        for m in re.finditer(r'line (\d+); error', r.stderr): bad.add(lines[int(m.group(1)) - 1].split(';')[0].strip())
        print(len(bad), sorted(bad)[:3], r.stderr[:300]); forms = [f for f in forms if f not in bad]
    open('forms.txt', 'w').write('\n'.join(forms) + '\n')
    E = [0, 1, 2, 7, 31, 32, 33, 40, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x10000, 0x7fffffff, 0x80000000, 0xffffffff, 0xfffffffe, 0x80ff7f01, 0xffffff80, 0xffff8000]
    def w():
        k = R.random()
        return R.choice(E) if k < .35 else R.getrandbits(32) if k < .85 else R.getrandbits(6)
    data = [(w(), w(), w()) for _ in range(1024)]
    open('input.bin', 'wb').write(b''.join(struct.pack('<III', *d) for d in data))
    print(len(forms), 'forms')
