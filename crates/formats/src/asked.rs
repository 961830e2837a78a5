//! The device that the command line above an output names: `root@n1:~# mlxlink -d mlx5_0 -p 1`.

/// The word behind an option of one of these programs, where a line is such a command line; the program may have its directory. An option
/// whose word is missing names nothing.
pub(crate) fn asked(line: &str, programs: &[&str], option: &str) -> Option<String> {
    let at = line.find(['$', '#', '>'])?;
    let mut words = line.get(at + 1..)?.split_whitespace().filter(|w| *w != "sudo");
    let program = words.next()?;
    let program = program.rsplit('/').next().unwrap_or(program);
    if !programs.contains(&program) {
        return None;
    }
    let device = words.skip_while(|w| *w != option).nth(1)?;
    let good = |b: u8| b.is_ascii_alphanumeric() || b"._-:/@".contains(&b);
    (!device.starts_with('-') && device.len() <= 128 && device.bytes().all(good)).then(|| device.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_line_names_its_device() {
        let of = |line| asked(line, &["mlxlink", "mstlink"], "-d");
        assert_eq!(of("root@n1:~# mlxlink -d mlx5_0 -p 1").as_deref(), Some("mlx5_0"));
        assert_eq!(of("$ sudo /usr/bin/mstlink -c -d 0000:18:00.0").as_deref(), Some("0000:18:00.0"));
        for line in ["mlxlink -d mlx5_0", "# mlxlink -d", "# mlxlink -d $dev", "# other -d mlx5_0", "# mlxlink -d -p"] {
            assert_eq!(of(line), None, "{line}");
        }
    }
}
