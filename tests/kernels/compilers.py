# SPDX-License-Identifier: Apache-2.0
"""Every word of the dialect through the real compilers of each language. A compiler that is
not installed is named; where none of NVRTC, hipRTC and Clang's OpenCL is, that is a skip."""
import ctypes
import os
import re
import shutil
import subprocess
import sys
import tempfile

PRINT = os.path.join(os.environ["YOKE_BUILD_DIR"], "tests", "kernels", "dialect_print")
WORDS = os.path.join(os.environ["YOKE_SOURCE_DIR"], "tests", "kernels", "every_word.c")
HOST, CUDA, HIP, OPENCL = 1, 2, 3, 4


def source(dialect):
    return subprocess.run([PRINT, str(dialect), WORDS], check=True, capture_output=True).stdout


def options(dialect):
    return subprocess.run([PRINT, "options", str(dialect)], check=True, capture_output=True,
                          text=True).stdout.split()


def compile_with(words, dialect):
    suffix = ".cl" if dialect == OPENCL else ".c"
    with tempfile.NamedTemporaryFile(suffix=suffix) as file:
        file.write(source(dialect))
        file.flush()
        result = subprocess.run(words + options(dialect) + [file.name], capture_output=True,
                                text=True, check=False)
    assert result.returncode == 0, f"{words}: {result.stderr}"


def host(compiler):
    if shutil.which(compiler) is None:
        return f"no {compiler}"
    compile_with([compiler, "-std=gnu17", "-Wall", "-Werror", "-Wno-unused-function",
                  "-Wno-unused-but-set-variable", "-c", "-o", os.devnull], HOST)
    return None


def opencl():
    if shutil.which("clang") is None:
        return "no clang"
    compile_with(["clang", "-cl-std=CL1.2", "-Xclang", "-finclude-default-header",
                  "-fsyntax-only", "-Werror", "-target", "spir64-unknown-unknown"], OPENCL)
    return None


class Compiler:
    """NVRTC and hipRTC: the same calls under two names."""

    def __init__(self, library, prefix):
        self.library, self.prefix = ctypes.CDLL(library), prefix

    def call(self, name, *arguments):
        return getattr(self.library, self.prefix + name)(*arguments)

    def text(self, program, what, size_name):
        size = ctypes.c_size_t()
        assert self.call(size_name, program, ctypes.byref(size)) == 0
        buffer = ctypes.create_string_buffer(size.value + 1)
        assert self.call(what, program, buffer) == 0
        return buffer.value.decode(errors="replace")

    def compile(self, text, words):
        program = ctypes.c_void_p()
        assert self.call("CreateProgram", ctypes.byref(program), text, b"words", 0, None,
                         None) == 0
        array = (ctypes.c_char_p * len(words))(*[word.encode() for word in words])
        status = self.call("CompileProgram", program, len(words), array)
        log = self.text(program, "GetProgramLog", "GetProgramLogSize")
        assert status == 0, f"{self.prefix}: {status}: {log}"
        return program


def fused(ptx):
    """Whether the kernel of one a * b + c has a fused instruction."""
    body = re.search(r"\.entry uncontracted\(.*?\n}", ptx, re.S).group(0)
    assert ("fma.rn.f32" in body) != ("mul.f32" in body or "mul.rn.f32" in body), body
    return "fma.rn.f32" in body


def nvrtc(path):
    compiler = Compiler(path, "nvrtc")
    arch = ["--gpu-architecture=sm_90"]
    compiler.compile(source(CUDA), arch + options(CUDA))
    virtual = ["--gpu-architecture=compute_90"]
    for words, expected in ((options(CUDA), False), ([], True)):
        program = compiler.compile(source(CUDA), virtual + words)
        assert fused(compiler.text(program, "GetPTX", "GetPTXSize")) == expected, words


def hiprtc(path):
    compiler = Compiler(path, "hiprtc")
    compiler.compile(source(HIP), ["--gpu-architecture=gfx90a"] + options(HIP))


def in_child(name, paths):
    """hipRTC ends the process where it does not know an architecture."""
    for path in paths:
        try:
            ctypes.CDLL(path) if name == "nvrtc" else os.stat(path)
        except OSError:
            continue
        result = subprocess.run([sys.executable, __file__, name, path], capture_output=True,
                                text=True, check=False)
        assert result.returncode == 0, f"{name}: {result.stdout}{result.stderr}"
        return None
    return f"no {name} library"


def main():
    if len(sys.argv) == 3:
        {"nvrtc": nvrtc, "hiprtc": hiprtc}[sys.argv[1]](sys.argv[2])
        return 0
    missing = [host("gcc"), host("clang")]
    devices = [opencl(),
               in_child("nvrtc", ["libnvrtc.so.13", "/usr/local/cuda/lib64/libnvrtc.so.13",
                                  "libnvrtc.so.12", "/usr/local/cuda/lib64/libnvrtc.so.12"]),
               in_child("hiprtc", ["/usr/lib/x86_64-linux-gnu/libamdhip64.so.5",
                                   "/opt/rocm/lib/libamdhip64.so"])]
    for reason in filter(None, missing + devices):
        print("not tried:", reason)
    if all(devices):
        print("skipped: no device compiler is installed")
        return 77
    return 0


sys.exit(main())
