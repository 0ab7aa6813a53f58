# SPDX-License-Identifier: Apache-2.0
"""Saved trees: what the kernel says, without any vendor library."""
import json
import os

import common
from common import by_id, check, equal, findings, inventory
from trees import Tree

# Classes as the cards' makers use them: display 03xx, co-processor 0b40, accelerator 1200.
GPU, COPROCESSOR, ACCELERATOR = "030200", "0b4000", "120000"


def gpus(document):
    return [d for d in document["nodes"][0]["devices"] if d["kind"] in ("gpu", "npu")]


def catalog_rows(folder):
    """Every PCI id of the catalog is found, driver or not."""
    with open(os.path.join(common.SOURCE, "data", "catalog", "accelerators.json")) as file:
        rows = json.load(file)["devices"]
    tree, want, bus = Tree(folder), {}, 1
    for row in rows:
        ids = row.get("pci") or {}
        for device in ids.get("devices") or []:
            key = (ids["vendor"], device)
            if key in want.values():
                continue
            address = f"0000:{bus:02x}:00.0"
            want[address] = key
            classes = [COPROCESSOR, ACCELERATOR]
            if key[0] in ("10de", "1002", "8086", "1ed5"):
                classes.append(GPU)
            tree.pci(address, *key, classes[bus % len(classes)])
            bus += 1
    check(len(want) > 50, f"the catalog has PCI ids: {len(want)}")
    document = inventory("--sysroot", folder)
    found = {d["id"]: tuple(d["pci_ids"].split(":")) for d in gpus(document)}
    equal(found, want, "catalog rows with a PCI id")
    for device in gpus(document):
        equal(device["schedulable"], False, f"{device['id']} without a runtime")
        check(device["reason"], f"{device['id']} says why it cannot be used")


def no_nics(folder):
    """Makers of accelerators also make NICs, bridges, storage and audio; others as well."""
    tree = Tree(folder)
    tree.pci("0000:01:00.0", "19e5", "1822", "020000")  # Huawei Ethernet
    tree.pci("0000:02:00.0", "19e5", "3714", "010802")  # Huawei NVMe
    tree.pci("0000:03:00.0", "19e5", "a120", "060400")  # Huawei bridge
    tree.pci("0000:04:00.0", "1f3f", "2100", "020000")  # 3SNIC, not Rebellions
    tree.pci("0000:05:00.0", "1f3f", "2120", "010400")  # 3SNIC RAID
    tree.pci("0000:06:00.1", "10de", "22ba", "040300")  # NVIDIA audio
    tree.pci("0000:07:00.0", "15b3", "101d", "020700")  # Mellanox
    tree.pci("0000:08:00.0", "1ded", "1001", "020000")  # Alibaba Ethernet
    tree.pci("0000:09:00.0", "8086", "1592", "020000")  # Intel Ethernet
    tree.pci("0000:0a:00.0", "1a03", "2000", "030000")  # ASPEED, a BMC's display
    tree.pci("0000:0b:00.0", "19e5", "1711", "030000")  # Huawei, a BMC's display
    document = inventory("--sysroot", folder)
    equal([d["id"] for d in gpus(document)], [], "no accelerator among NICs")


def vendor_classes(folder):
    """Accelerators of the vendor list in an odd class."""
    tree = Tree(folder)
    for i, (vendor, device) in enumerate([("cabc", "0370"), ("9999", "0a01"), ("1e3e", "0001"),
                                          ("1e36", "c035"), ("1da3", "1020"),
                                          ("1ed5", "0323")]):
        tree.pci(f"0000:{i + 1:02x}:00.0", vendor, device, "ff0000")
    equal(len(gpus(inventory("--sysroot", folder))), 6, "vendors of the list in class ff")


def ascend_pairs(folder):
    """One Ascend card shows two PCI functions; eight cards are eight devices."""
    tree = Tree(folder)
    for i in range(8):
        for function in (0, 1):
            tree.pci(f"0000:{0xc1 + i:02x}:00.{function}", "19e5", "d802", ACCELERATOR)
    equal(len(gpus(inventory("--sysroot", folder))), 8, "Ascend cards with two functions")


def four_domains(folder):
    """Four MI300 at 02:00.0 in four PCI domains, one of them of 32 bits."""
    tree = Tree(folder)
    domains = ["0000", "0001", "0002", "10000"]
    for domain in domains:
        tree.pci(f"{domain}:02:00.0", "1002", "74a1", ACCELERATOR, under=f"pci{domain}:00",
                 driver="amdgpu", mem_info_vram_total=206141652992,
                 mem_info_vram_used=1048576)
    devices = gpus(inventory("--sysroot", folder))
    equal([d["id"] for d in devices], [f"{d}:02:00.0" for d in domains], "four domains")
    for device in devices:
        equal(device["memory"]["total"], 206141652992, "memory by amdgpu")
        equal(device["memory"]["free"], 206141652992 - 1048576, "free memory by amdgpu")


def virtual_functions(folder):
    """Virtual functions are parts of their card, not cards."""
    tree = Tree(folder)
    tree.pci("0000:03:00.0", "1002", "74a1", ACCELERATOR)
    for i in (1, 2):
        tree.pci(f"0000:03:02.{i}", "1002", "74b5", ACCELERATOR, physfn="0000:03:00.0")
    devices = by_id(inventory("--sysroot", folder))
    parts = [d for d in devices.values() if d["parent"] is not None]
    equal(len(parts), 2, "virtual functions")
    equal({d["parent"] for d in parts}, {"0000:03:00.0"}, "their card")


def places(folder):
    """NUMA -1 is unknown; PCIe links; NICs, their rates and the devices near to them."""
    tree = Tree(folder)
    fast = dict(current_link_speed="16.0 GT/s PCIe", max_link_speed="32.0 GT/s PCIe",
                current_link_width=8, max_link_width=16)
    for bus, numa, complex_, switch in ((0x10, -1, "00", "01"), (0x20, 1, "80", "01"),
                                        (0x30, 1, "80", "02")):
        tree.pci(f"0000:{bus:02x}:00.0", "10de", "2330", GPU, numa_node=numa,
                 under=f"pci0000:{complex_}/0000:{complex_}:{switch}.0", **fast)
    ib = tree.pci("0000:21:00.0", "15b3", "1021", "020700", numa_node=1,
                  under="pci0000:80/0000:80:01.0")
    tree.infiniband("mlx5_0", ib, "400 Gb/sec (4X NDR)")
    tree.net("ib0", ib, 400000, kind=32)
    roce = tree.pci("0000:31:00.0", "15b3", "101d", "020000", numa_node=1,
                    under="pci0000:80/0000:80:03.0")
    tree.infiniband("mlx5_1", roce, "100 Gb/sec (4X EDR)", layer="Ethernet")
    eth = tree.pci("0000:41:00.0", "8086", "1592", "020000", under="pci0000:40")
    tree.net("eth0", eth, 25000)
    down = tree.pci("0000:42:00.0", "8086", "1592", "020000", under="pci0000:40")
    tree.net("eth1", down, -1)
    tree.write("sys/devices/virtual/net/lo/type", "772\n")
    tree.link("sys/class/net/lo", "../../devices/virtual/net/lo")
    document = inventory("--sysroot", folder)
    devices = by_id(document)
    equal(devices["0000:10:00.0"]["numa"], None, "NUMA -1")
    equal(devices["0000:20:00.0"]["numa"], 1, "NUMA 1")
    equal(devices["0000:20:00.0"]["pcie"],
          {"generation": 4, "lanes": 8, "generation_max": 5, "lanes_max": 16}, "PCIe")
    nics = {n["id"]: n for n in document["nodes"][0]["nics"]}
    equal(sorted(nics), ["eth0", "eth1", "mlx5_0", "mlx5_1"], "NICs, each once")
    equal([nics[n]["kind"] for n in sorted(nics)],
          ["ethernet", "ethernet", "infiniband", "roce"], "kinds")
    equal([nics[n]["rate"] for n in sorted(nics)], [25e9 / 8, None, 400e9 / 8, 100e9 / 8],
          "rates")
    equal(nics["mlx5_0"]["near"], ["0000:20:00.0"], "behind the same switch")
    equal(nics["mlx5_1"]["near"], ["0000:20:00.0", "0000:30:00.0"], "same root complex")
    equal(nics["eth0"]["near"], [], "nothing known is nothing said")


def memory(folder):
    """Limits of control groups, and figures that disagree."""
    tree = Tree(folder)
    tree.write("sys/devices/system/node/node0/meminfo", "Node 0 MemTotal:  8480972 kB\n")
    tree.write("proc/self/cgroup", "0::/job/step\n")
    tree.write("proc/self/mountinfo",
               "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n")
    tree.write("sys/fs/cgroup/job/memory.max", "1073741824\n")
    tree.write("sys/fs/cgroup/job/memory.current", "73741824\n")
    tree.write("sys/fs/cgroup/job/step/memory.max", "max\n")
    document = inventory("--sysroot", folder)
    host = by_id(document)["host"]["memory"]
    equal((host["total"], host["free"], host["usable"]),
          (67108864 * 1024, 1000000000, 1073741824), "memory under a v2 limit")
    warnings = " ".join(document["nodes"][0]["warnings"])
    check("67108864 kB" in warnings and "8480972 kB" in warnings,
          f"both figures are named: {warnings}")


def memory_v1(folder):
    """cgroup v1 in a container that sees a part of the hierarchy."""
    tree = Tree(folder)
    tree.write("proc/self/cgroup", "5:cpu,cpuacct:/x\n4:memory:/docker/abc\n0::/\n")
    tree.write("proc/self/mountinfo",
               "35 31 0:29 /docker/abc /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n")
    tree.write("sys/fs/cgroup/memory/memory.limit_in_bytes", "2147483648\n")
    tree.write("sys/fs/cgroup/memory/memory.usage_in_bytes", "147483648\n")
    host = by_id(inventory("--sysroot", folder))["host"]["memory"]
    equal((host["usable"], host["free"]), (2147483648, 2000000000), "memory under a v1 limit")
    tree.write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n")
    host = by_id(inventory("--sysroot", folder))["host"]["memory"]
    equal(host["usable"], 67108864 * 1024, "v1's way to say: no limit")


def listed_only(folder):
    """Vendor files of a saved tree are listed; nothing of them is loaded here."""
    tree = Tree(folder)
    tree.write("etc/OpenCL/vendors/some.icd", "libsome.so\n")
    document = inventory("--sysroot", folder)
    equal(findings(document)["opencl:some.icd"]["verdict"], "absent", "a vendor file")
    check("hip" not in findings(document), "no vendor library is asked below a sysroot")
    equal(document["nodes"][0]["hosts"], "fixture", "host name of the tree")


for test in (catalog_rows, no_nics, vendor_classes, ascend_pairs, four_domains,
             virtual_functions, places, memory, memory_v1, listed_only):
    with common.temporary() as folder:
        test(folder)
common.finish()
