"""Fifty spellings of addresses that a server must never open because a visitor sent them."""

_HERE = (
    *("127.0.0.1", "localhost", "[::1]", "0x7f000001", "2130706433", "127.1", "0", "0.0.0.0"),
    *("017700000001", "127.0.0.1.", "[::ffff:127.0.0.1]", "[0:0:0:0:0:0:0:1]", "127.000.000.1"),
    *(
        "localhost.",
        "LOCALHOST",
        "\uff11\uff12\uff17.0.0.1",
        "127\u30020\u30020\u30021",
        "user@127.0.0.1",
    ),
    *("evil.example@127.0.0.1", "127.0.0.1#evil.example", "127.0.0.1%2f", "169.254.169.254"),
    *("[fd00:ec2::254]", "10.0.0.1", "192.168.0.1", "metadata.google.internal", "evil.example"),
)
ADDRESSES = (
    *(f"http://{host}:9/latest/meta-data" for host in _HERE),
    *("https://127.0.0.1:9", "HTTP://127.0.0.1:9", "http:127.0.0.1:9", "http:/127.0.0.1:9"),
    *("http:\\\\127.0.0.1:9", "//127.0.0.1:9", "///127.0.0.1:9", "\\\\127.0.0.1\\x"),
    *("file:///etc/passwd", "file://127.0.0.1/x", "/etc/passwd", "gopher://127.0.0.1:9"),
    *("ftp://127.0.0.1", "dict://127.0.0.1:9", "s3://bucket/x", "gs://bucket/x"),
    *("postgresql://127.0.0.1:9/x", "ldap://127.0.0.1:9", "jar:http://127.0.0.1:9!/x"),
    *(
        "data:text/plain,x",
        "javascript:fetch('http://127.0.0.1:9')",
        "http://127.0.0.1:9\r\nX: y",
    ),
    "\thttp://127.0.0.1:9",
)
