//! Planted secrets: every form is composed at run time, so that no file of this repository holds anything that looks like one.

mod forms;

/// A text that is written into a source, and what must not come out of it again.
pub(crate) struct Planted {
    /// The form, for people.
    pub(crate) form: String,
    /// The text.
    pub(crate) text: String,
    /// What must not survive.
    pub(crate) secret: String,
}

/// Numbers that look random and are the same each time.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// So many characters of an alphabet.
    pub(crate) fn text(&mut self, alphabet: &str, len: usize) -> String {
        let all: Vec<char> = alphabet.chars().collect();
        (0..len).map(|_| all[(self.next() >> 11) as usize % all.len()]).collect()
    }
}

const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const LOWER: &str = "abcdefghijklmnopqrstuvwxyz";
const DIGIT: &str = "0123456789";

fn alnum() -> String {
    [UPPER, LOWER, DIGIT].concat()
}

/// A password as a person chooses it: its shape does not show that it is one.
pub(crate) fn word(n: usize) -> String {
    format!("correct{n:04}horse")
}

/// `P` stands for a password in a form.
fn fill(form: &str, n: usize) -> Planted {
    let secret = word(n);
    Planted { form: form.to_owned(), text: form.replace("\u{1}", &secret), secret }
}

fn filled<'a>(forms: impl IntoIterator<Item = &'a str>, from: usize) -> Vec<Planted> {
    forms.into_iter().enumerate().map(|(i, f)| fill(&f.replace('§', "\u{1}"), from + i)).collect()
}

/// Words of a kernel command line. `§` is the password.
pub(crate) fn kernel_words(from: usize) -> Vec<Planted> {
    filled(
        [
            "netroot=iscsi:user:§@192.168.0.4::3260:1:iqn.2009-06.example:disk",
            "netroot=iscsi:user:§:other:user2@10.0.0.9::::iqn.x",
            "root=cifs://user:§@server/share",
            "root=nbd:user:§@server:10809",
            "inst.ks=https://u:§@example.net/ks.cfg",
            "inst.ks=https://example.net/ks.cfg?sig=§",
            "inst.repo=ftp://u:§@mirror/x",
            "ks=http://u:§@h/k",
            "autoinstall.url=https://h/a?key=§",
            "ds=nocloud-net;s=https://u:§@h/",
            "ds=nocloud;seedfrom=http://h/?k=§",
            "cloud-config-url=http://u:§@h/c",
            "systemd.set_credential=passwd.hashed-password.root:§",
            "systemd.set_credential_binary=x:§",
            "systemd.set-credential=ssh.key:§",
            "systemd.setenv=TOKEN=§",
            "systemd.setenv=HTTPS_PROXY=http://u:§@proxy:3128",
            "psk=§",
            "wifi.psk=§",
            "pass=§",
            "mypass=§",
            "bmc_pw=§",
            "ipmi_pw=§",
            "pw=§",
            "pwd=§",
            "PGPASS=§",
            "PGPASSWORD=§",
            "rd.luks.key=§",
            "rd.luks.key=/k:LABEL=§",
            "rd.luks.options=key=§",
            "luks_key=§",
            "cryptkey=§",
            "cryptdevice=/dev/sda2:§",
            "auth=§",
            "bearer=§",
            "token=§",
            "TOKEN=§",
            "Token=§",
            "k3s.token=§",
            "api-key=§",
            "apikey=§",
            "secret=§",
            "rd.iscsi.password=§",
            "rd.iscsi.in.password=§",
            "rd.iscsi.username=§",
            "nfsroot=server:/x,password=§",
            "rd.zfs.key=§",
            "vconsole.passphrase=§",
            "sig=§",
            "X-Amz-Signature=§",
            "foo=§",
            "site.unknown=§",
            "vendor_option=§,1",
            "ignition.config.url=https://u:§@h/i.ign",
            "ignition.config.url=https://h/i.ign?token=§",
            "coreos.inst.ignition_url=https://h/§",
            "talos.config=https://h/?uuid=§",
            "talos.config=https://metadata/§",
            "proxy=http://u:§@p:3128",
            "ip=§",
            "ifname=§:00",
            "hostname=§",
            "init=/bin/sh,§",
            "console=§",
            "nvidia.NVreg_Secret=§",
            "mlx5_core.password=§",
            "\"quoted=a § b\"",
            "quoted=\"a § b\"",
            "dyndbg=\"file x +p; pw §\"",
            "mitigations=§",
            "iommu=§",
            "pci=§",
            "pci=realloc,§",
            "BOOT_IMAGE=https://u:§@h/vmlinuz",
            "root=§",
            "hugepages=§",
            "rd.znet=§",
            "LOGIN=root:§",
            "user:§@host",
            "--password=§",
            "curl=-u:u:§@x",
        ],
        from,
    )
}

/// Runs of words behind `--`, or of options: only whole lines make sense of them.
pub(crate) fn kernel_tails(from: usize) -> Vec<Planted> {
    filled(["-- --password §", "-- §", "--token § quiet", "-- -u u:§", "ro --passphrase § x"], from)
}

/// Assignments of variables.
pub(crate) fn variables(from: usize) -> Vec<Planted> {
    filled(
        [
            "NCCL_PASSWORD=§",
            "NCCL_TOKEN=§",
            "NCCL_AUTH=§",
            "NCCL_UNHEARD_OF=§",
            "NCCL_DEBUG=§",
            "NCCL_IB_TIMEOUT=§",
            "NCCL_DEBUG_FILE=https://u:§@h/log",
            "NCCL_DEBUG_FILE=/tmp/log?sig=§",
            "NCCL_COMM_ID=user:§@10.0.0.1:4000",
            "NCCL_NET_PLUGIN=https://h/?token=§",
            "NCCL_SOCKET_IFNAME=eth0;password=§",
            "NCCL_IB_HCA=§/x y",
            "NCCL_CONF_FILE=--password §",
            "UCX_PASSWORD=§",
            "UCX_TOKEN=§",
            "UCX_SITE_OPTION=§ with blanks",
            "UCX_NET_DEVICES=--token=§",
            "UCX_LOG_FILE=ftp://u:§@h/x",
            "UCX_TLS=rc,password:§",
            "CUDA_VISIBLE_DEVICES=token=§",
            "export NCCL_SECRET=§",
            "NCCL_API_KEY='§'",
            "NCCL_PSK=\"§\"",
            "PGPASSWORD=§",
            "WANDB_API_KEY=§",
            "HF_TOKEN=§",
            "AWS_SECRET_ACCESS_KEY=§",
            "DATABASE_URL=postgres://u:§@db/x",
            "SOMETHING=§",
        ],
        from,
    )
}

/// Lines of `modprobe.d` and other small files of configuration.
pub(crate) fn module_lines(from: usize) -> Vec<Planted> {
    filled(
        [
            "# password is §",
            "# token: §",
            "options mlx5_core secret=§",
            "options nvidia NVreg_Password=§",
            "options nvidia NVreg_RegistryDwords=\"Token=§\"",
            "options cifs auth=§",
            "options site_driver key=§",
            "options site_driver foo=§",
            "install nvidia /bin/sh -c 'curl -u u:§ https://h/'",
            "install nvidia /usr/bin/logger --password §; /sbin/modprobe --ignore-install nvidia",
            "remove nvidia wget --http-password=§ https://h",
            "post-install x TOKEN=§ /bin/x",
            "alias § nvidia",
            "softdep nvidia pre: § x=§",
            "options vfio-pci ids=§",
            "options nvidia \\\n NVreg_X=§",
            "§",
        ],
        from,
    )
}

/// Lines of units.
pub(crate) fn unit_lines(from: usize) -> Vec<Planted> {
    filled(
        [
            "Environment=TOKEN=§",
            "Environment=\"PGPASSWORD=§\"",
            "Environment=\"A=1\" \"DB_PASS=§\"",
            "Environment=A=1 \\\n B_PW=§",
            "Environment=SITE=§",
            "EnvironmentFile=-/etc/x/§",
            "ExecStart=/usr/bin/tool --password §",
            "ExecStart=/usr/bin/tool --password=§",
            "ExecStart=/usr/bin/curl -u u:§ https://h/",
            "ExecStart=/usr/bin/curl -H 'Authorization: Bearer §' https://h/",
            "ExecStart=/usr/bin/curl -H \"X-Api-Key: §\" https://h/",
            "ExecStart=/usr/bin/mount.cifs //h/s /m -o username=u,password=§",
            "ExecStartPre=/usr/bin/sshpass -p § ssh h",
            "ExecStartPre=/usr/bin/mysql -p§ -u root",
            "ExecStop=/usr/bin/wget https://u:§@h/x",
            "SetCredential=x:§",
            "SetCredentialEncrypted=x:§",
            "LoadCredential=x:/§",
            "Description=password is §",
            "X-Site=§",
            "# §",
            "; token §",
        ],
        from,
    )
}

/// NetworkManager keyfiles.
pub(crate) fn keyfile_sections(from: usize) -> Vec<Planted> {
    filled(
        [
            "[wifi-security]\npsk=§",
            "[wifi-security]\nwep-key0=§",
            "[wifi-security]\nleap-password=§",
            "[802-1x]\npassword=§",
            "[802-1x]\nprivate-key-password=§",
            "[802-1x]\nidentity=§",
            "[802-1x]\nca-cert-password=§",
            "[wireguard]\nprivate-key=§",
            "[wireguard-peer.x]\npreshared-key=§",
            "[vpn]\ndata=password=§",
            "[vpn-secrets]\npassword=§",
            "[gsm]\npin=§",
            "[gsm]\npassword=§",
            "[pppoe]\npassword=§",
            "[connection]\nid=§",
            "[connection]\npermissions=user:§:;",
            "[connection]\ninterface-name=psk=§",
            "[connection]\nuuid=§",
            "[ethernet]\nmtu=§",
            "[ipv4]\nmethod=§",
            "[ipv4]\naddress1=§",
            "[proxy]\npac-url=https://u:§@h",
            "[user]\nsite=§",
            "# § is the password",
        ],
        from,
    )
}

/// Files of systemd-networkd.
pub(crate) fn networkd_sections(from: usize) -> Vec<Planted> {
    filled(
        [
            "[Network]\nDescription=§",
            "[Network]\nAddress=§",
            "[Network]\nDHCP=§",
            "[WireGuard]\nPrivateKey=§",
            "[WireGuardPeer]\nPresharedKey=§",
            "[MACsecTransmitAssociation]\nKey=§",
            "[L2TP]\nx=§",
            "[Match]\nSSID=§",
            "[Match]\nName=password=§",
            "[Match]\nUnheardOf=§",
            "[Match]\nKernelCommandLine=token=§",
            "[Link]\nMTUBytes=§",
            "[DHCPv4]\nUserClass=§",
        ],
        from,
    )
}

/// Netplan.
pub(crate) fn netplan_lines(from: usize) -> Vec<Planted> {
    filled(
        [
            "network:\n  wifis:\n    wlan0:\n      access-points:\n        \"net\":\n          password: \"§\"",
            "network:\n  wifis:\n    wlan0:\n      access-points:\n        net: {password: §}",
            "network:\n  ethernets:\n    eth0:\n      auth:\n        key-management: 802.1x\n        password: §",
            "network:\n  ethernets:\n    eth0:\n      auth:\n        client-key-password: '§'",
            "network:\n  ethernets:\n    eth0:\n      auth:\n        identity: §",
            "network:\n  tunnels:\n    wg0:\n      keys:\n        private: §",
            "network:\n  tunnels:\n    wg0:\n      key: §",
            "network:\n  tunnels:\n    wg0:\n      peers:\n        - keys:\n            shared: §",
            "network:\n  modems:\n    m:\n      pin: §\n      password: |\n        §",
            "# §",
        ],
        from,
    )
}

/// Free text: lines of logs, of tools, of anything that is pasted.
pub(crate) fn lines(from: usize) -> Vec<Planted> {
    let mut out = filled(
        [
            "tool: connecting with password=§",
            "tool: password: §",
            "tool: Password: '§'",
            "tool: PASSWORD = \"§\"",
            "tool: passwd=§;",
            "tool: passphrase => §",
            "tool: pass=§",
            "tool: pass: §",
            "tool: db_pw=§",
            "tool: pwd=§,x",
            "tool: psk=\"§\"",
            "tool: wpa_passphrase=§",
            "tool: PGPASS=§",
            "tool: PGPASSWORD=§ psql",
            "tool: MYSQL_PWD=§ mysql",
            "tool: auth=§",
            "tool: auth: §",
            "tool: bearer=§",
            "tool: Bearer §",
            "tool: Authorization: Bearer §",
            "tool: Authorization: Basic §",
            "tool: authorization: token §",
            "tool: AUTHORIZATION:Bearer §",
            "tool: Proxy-Authorization: Digest username=u, response=§",
            "tool: 'Authorization': 'Bearer §'",
            "tool: Cookie: session=a; id=§",
            "tool: Set-Cookie: sid=§; Path=/",
            "tool: X-Auth-Token: §",
            "tool: X-API-Key: §",
            "tool: X-Vault-Token: §",
            "tool: run --password §",
            "tool: run --password=§",
            "tool: run --password \"a § b\"",
            "tool: run --pass '§'",
            "tool: run --token § --x",
            "tool: run -password §",
            "tool: run --api-key §",
            "tool: run --secret §",
            "tool: run --auth §",
            "tool: run --client-secret=§",
            "tool: curl -u u:§ https://h",
            "tool: curl -uu:§ https://h",
            "tool: curl --user u:§ https://h",
            "tool: curl --user=u:§ https://h",
            "tool: curl --proxy-user u:§ https://h",
            "tool: curl -H \"Authorization: Bearer §\" https://h",
            "tool: sshpass -p § ssh h",
            "tool: sshpass -p§ ssh h",
            "tool: mysql -u root -p§",
            "tool: ipmitool -H h -U u -P § power status",
            "tool: ldapsearch -w § -x",
            "tool: smbclient //h/s -U u%§",
            "tool: redis-cli -a § ping",
            "tool: docker login -u u -p § h",
            "tool: https://u:§@h/x",
            "tool: https://§@h/x",
            "tool: HTTPS://U:§@H/X",
            "tool: ftp://u:§@h",
            "tool: postgres://u:§@h:5432/d",
            "tool: mongodb+srv://u:§@h/d",
            "tool: redis://:§@h:6379",
            "tool: amqp://u:§@h",
            "tool: ssh://u:§@h",
            "tool: jdbc:postgresql://h/d?user=u&password=§",
            "tool: jdbc:oracle:thin:u/§@h:1521",
            "tool: git clone https://oauth2:§@h/r",
            "tool: https://h/?token=§",
            "tool: https://h/x?a=1&sig=§&b=2",
            "tool: https://h/x?X-Amz-Signature=§",
            "tool: https://h/x?X-Amz-Credential=§",
            "tool: https://h/x?x=§#y",
            "tool: https://h/#access_token=§",
            "tool: sig=§",
            "tool: signature=§",
            "tool: X-Amz-Signature=§",
            "tool: X-Amz-Security-Token=§",
            "tool: SharedAccessSignature=§",
            "tool: Server=h;User Id=u;Password=§;Encrypt=yes",
            "tool: AccountName=a;AccountKey=§;x",
            "tool: Endpoint=sb://h/;SharedAccessKey=§",
            "tool: {\"password\": \"§\"}",
            "tool: {\"password\":\"a\\\"§\"}",
            "tool: {\\\"password\\\": \\\"§\\\"}",
            "tool: {\"auths\":{\"h\":{\"auth\":\"§\"}}}",
            "tool: {\"identitytoken\":\"§\"}",
            "tool: {'api_key': '§'}",
            "tool: {\"secrets\": [\"a\", \"§\"]}",
            "tool: {\"passwords\":{\"root\":\"§\"}}",
            "tool: {\"clientSecret\":\"§\"}",
            "tool: {\"privateKey\":\"§\"}",
            "tool: {\"accessToken\":\"§\",\"x\":1}",
            "tool: client-key-data: §",
            "tool: aws_secret_access_key = §",
            "tool: aws_session_token=§",
            "tool: secret_access_key: §",
            "tool: api_key='§'",
            "tool: apiKey: \"§\"",
            "tool: private_key=§",
            "tool: encryption_key=§",
            "tool: ssh-key: §",
            "tool: license_key=§",
            "tool: luks.key=§",
            "tool: rd.luks.key=§",
            "tool: otp=§",
            "tool: pin=§",
            "tool: jwt=§",
            "tool: credential=§",
            "tool: creds: u:§",
            "tool: session_key=§",
            "tool: sessionid=§",
            "tool: password is §",
            "tool: password for root is §",
            "tool: the password: §",
            "tool: machine h login u password §",
            "tool: IDENTIFIED BY '§'",
            "tool: root:§@10.0.0.1",
            "tool: u:§@h.example.net",
            "tool: //u:§@h/share",
            "tool: mount -o username=u,password=§,vers=3",
            "tool: mount -t cifs //h/s /m -o user=u,pass=§",
            "tool: password=a\\ § x",
            "tool: password='a'\"§\"",
            "tool: password=$'§'",
            "tool: password=\"multi § word\"",
            "tool: Passwort=§",
            "tool: <password>§</password>",
            "tool: <secret type='x'>§</secret>",
            "tool: <graphics passwd='§'/>",
            "tool: <Password xml:space=\"x\">§</Password>",
            "tool: systemd.set_credential=a:§",
            "tool: netroot=iscsi:u:§@h",
            "tool: root=cifs://u:§@h/s",
            "tool: inst.ks=https://u:§@h",
            "tool: Command line: ro site=§ quiet",
            "tool: Kernel command line: ro site=§ quiet",
            "tool: Unknown kernel command line parameters \"site=§ x\", will be passed to user space.",
            "tool: psk=\"a\" # psk=§",
            "tool: [wifi] psk: §",
            "tool: snmp community=§",
            "tool: kubeadm join h:6443 --token § --discovery-token-ca-cert-hash x",
            "tool: docker run -e TOKEN=§ image",
            "tool: docker run -e DB_PASSWORD='§' image",
            "tool: ansible_become_pass=§",
            "tool: ansible_ssh_pass: §",
            "tool: vault_pass: §",
            "tool: grub_password=§",
            "tool: ipmi_password=§",
            "tool: bmcPassword: §",
            "tool: BmcPwd=§",
            "tool: access_key=§",
            "tool: storage_key=§",
            "tool: wgPrivateKey = §",
            "tool: PresharedKey = §",
            "tool: export FOO_SECRET=§",
        ],
        from,
    );
    let more = out.len();
    out.extend(filled(forms::LINES.iter().copied(), from + more));
    for (n, text) in [(300, "Basic \u{1}"), (301, "sent Basic \u{1} x"), (302, "header (Basic \u{1}=)")] {
        // Base64 of `me:correct0001horse`, as the header has it.
        let secret = base64(&format!("me:{}", word(from + n)));
        out.push(Planted { form: text.to_owned(), text: format!("tool: {}", text.replace('\u{1}', &secret)), secret });
    }
    out
}

/// Base64 of a text, without the signs that fill it up.
fn base64(text: &str) -> String {
    let digits: Vec<char> = format!("{UPPER}{LOWER}{DIGIT}+/").chars().collect();
    let three = |b: &[u8]| b.iter().fold(0_usize, |n, b| n << 8 | usize::from(*b)) << (8 * (3 - b.len()));
    text.as_bytes()
        .chunks(3)
        .flat_map(|b| [18, 12, 6, 0].map(|s| digits[three(b) >> s & 63]).into_iter().take(b.len() + 1))
        .collect()
}

/// Texts of several lines.
pub(crate) fn blocks(from: usize) -> Vec<Planted> {
    let dashes = "-".repeat(5);
    let mut out = filled(
        [
            "tool: password: |\n  §\nx: y",
            "tool: password: >-\n    §\nx: y",
            "tool: password=a\\\n§\nnext",
            "tool: password = \"\"\"\n§\n\"\"\"",
            "tool: secrets:\n  - §\n  - b\nx: y",
            "tool: token:\n  §\nx: y",
        ],
        from,
    );
    let more = out.len();
    out.extend(filled(forms::BLOCKS.iter().copied(), from + more));
    let secret = word(from + 40);
    let text = format!(
        "---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\nabc\n{secret}\n---- END SSH2 ENCRYPTED PRIVATE KEY ----\nafter"
    );
    out.push(Planted { form: "SSH2 private key".to_owned(), text, secret });
    for (i, kind) in
        ["RSA PRIVATE KEY", "PRIVATE KEY", "OPENSSH PRIVATE KEY", "EC PRIVATE KEY", "ENCRYPTED PRIVATE KEY"]
            .iter()
            .enumerate()
    {
        let secret = word(from + 50 + i);
        let text = format!("tool: x\n{dashes}BEGIN {kind}{dashes}\nabc\n{secret}\n{dashes}END {kind}{dashes}\nafter");
        out.push(Planted { form: (*kind).to_owned(), text, secret });
        let secret = word(from + 60 + i);
        let text = format!("tool: key {dashes}BEGIN {kind}{dashes}\\nabc\\n{secret}\\n{dashes}END {kind}{dashes}\\n x");
        out.push(Planted { form: format!("{kind} in one line"), text, secret });
    }
    let secret = word(from + 70);
    let text = format!("tool: x\n{dashes}BEGIN PGP PRIVATE KEY BLOCK{dashes}\n\n{secret}");
    out.push(Planted { form: "a block that is cut".into(), text, secret });
    out
}

/// Tokens whose shape alone says what they are.
pub(crate) fn tokens(seed: u64) -> Vec<Planted> {
    let mut d = Dice::new(seed);
    let (alnum, hex) = (alnum(), format!("{DIGIT}abcdef"));
    let base64 = format!("{alnum}+/");
    let url = format!("{alnum}-_");
    let mut out = Vec::new();
    let mut add = |form: &str, secret: String| {
        out.push(Planted { form: form.to_owned(), text: secret.clone(), secret });
    };
    let upper = format!("{UPPER}{DIGIT}");
    for (form, head, alphabet, len) in [
        ("AWS key id", ["AK", "IA"].concat(), &upper, 16),
        ("AWS temporary key id", ["AS", "IA"].concat(), &upper, 16),
        ("GitHub", ["gh", "p_"].concat(), &alnum, 36),
        ("GitHub OAuth", ["gh", "o_"].concat(), &alnum, 36),
        ("GitHub server", ["gh", "s_"].concat(), &alnum, 36),
        ("GitHub refresh", ["gh", "r_"].concat(), &alnum, 36),
        ("GitHub fine", ["github", "_pat_"].concat(), &url, 60),
        ("GitLab", ["glp", "at-"].concat(), &url, 20),
        ("Hugging Face", ["h", "f_"].concat(), &alnum, 34),
        ("OpenAI-like", ["s", "k-"].concat(), &alnum, 48),
        ("OpenAI-like project", ["sk-", "proj-"].concat(), &url, 60),
        ("Anthropic-like", ["sk-", "ant-api03-"].concat(), &url, 80),
        ("payment", ["sk_", "live_"].concat(), &alnum, 24),
        ("Slack", ["xo", "xb-"].concat(), &url, 40),
        ("NVIDIA", ["nva", "pi-"].concat(), &url, 60),
        ("npm", ["np", "m_"].concat(), &alnum, 36),
        ("PyPI", ["py", "pi-"].concat(), &url, 80),
        ("Google", ["AI", "za"].concat(), &url, 35),
        ("Google OAuth", ["ya", "29."].concat(), &url, 60),
        ("SendGrid", ["S", "G."].concat(), &url, 60),
        ("Vault", ["hv", "s."].concat(), &alnum, 24),
        ("Docker", ["dckr", "_pat_"].concat(), &url, 27),
        ("DigitalOcean", ["dop", "_v1_"].concat(), &hex, 64),
        ("Tailscale", ["tskey", "-auth-"].concat(), &alnum, 32),
        ("age", ["AGE-SECRET", "-KEY-1"].concat(), &upper, 58),
        ("Databricks", ["da", "pi"].concat(), &hex, 32),
        ("Shopify", ["shp", "at_"].concat(), &hex, 32),
        ("Replicate", ["r", "8_"].concat(), &alnum, 37),
        ("Groq", ["gs", "k_"].concat(), &alnum, 52),
    ] {
        add(form, format!("{head}{}", d.text(alphabet, len)));
    }
    for len in [40, 64, 96, 128] {
        add(&format!("hex of {len}"), d.text(&hex, len));
        add(&format!("upper hex of {len}"), d.text(&hex, len).to_uppercase());
        add(&format!("base64 of {len}"), format!("{}==", d.text(&base64, len)));
        add(&format!("base64url of {len}"), d.text(&url, len));
    }
    add("hex of 32", d.text(&hex, 32));
    for len in [24, 28, 32, 36] {
        add(&format!("letters and digits of {len}"), d.text(&alnum, len));
    }
    let jwt = |d: &mut Dice| {
        format!("{}{}.{}.{}", ["e", "yJ"].concat(), d.text(&url, 33), d.text(&url, 70), d.text(&url, 43))
    };
    add("JWT", jwt(&mut d));
    for (form, head) in [
        ("sha512 crypt", "$6$"),
        ("bcrypt", "$2b$12$"),
        ("yescrypt", "$y$j9T$"),
        ("argon2", "$argon2id$v=19$m=1,t=1,p=1$"),
    ] {
        let salt = d.text(&alnum, 12);
        add(form, format!("{head}{salt}${}", d.text(&alnum, 40)));
    }
    out
}
